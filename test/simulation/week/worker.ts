import { parentPort, workerData } from "node:worker_threads";
import { type Course, type CourseOptions, playCourse } from "./course.ts";
import type { Day } from "./ledger.ts";

/** What a thread tells of its course. */
export type Told = { readonly day: Day } | { readonly course: Course };

const tell = (published: Told): void => parentPort?.postMessage(published);

tell({ course: await playCourse(workerData as CourseOptions, (day) => tell({ day })) });
