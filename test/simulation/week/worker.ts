import { parentPort, workerData } from "node:worker_threads";
import { type Course, type CourseOptions, playCourse } from "./course.ts";
import type { Day } from "./ledger.ts";

/** A message of the thread that plays a course. */
export type CourseMessage = { readonly day: Day } | { readonly course: Course };

const post = (message: CourseMessage): void => parentPort?.postMessage(message);

post({ course: await playCourse(workerData as CourseOptions, (day) => post({ day })) });
