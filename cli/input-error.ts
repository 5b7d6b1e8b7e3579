/** What is wrong with an input or a command line, in one sentence that says where and how to fix it. */
export class InputError extends Error {}
