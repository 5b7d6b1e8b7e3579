import { CHANGE } from "./change.ts";
import type { Course } from "./course.ts";
import { GROWTH } from "./growth.ts";

export const COURSES: readonly Course[] = [...GROWTH, ...CHANGE];
