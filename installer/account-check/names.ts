import type { Tag, Tags } from "./ports.ts";

/** The tag of everything that account-check makes; its value is the id of the run. */
const TAG = "karpenter-serverless/account-check";
/** What the names of its stacks, tables and templates begin with. */
export const PREFIX = "karpenter-serverless-check-";

export const tagsOf = (runId: string): Tags => ({ [TAG]: runId });

/** The tag of one run, or of all runs. */
export const tagOf = (runId?: string): Tag => ({ key: TAG, ...(runId !== undefined && { value: runId }) });

/** Names of one run, or of all runs, begin with this. */
export const prefixOf = (runId?: string): string => (runId === undefined ? PREFIX : `${PREFIX}${runId}-`);

export const loopStack = (runId: string): string => `${prefixOf(runId)}loop`;
export const rollbackStack = (runId: string): string => `${prefixOf(runId)}rollback`;
export const templateName = (runId: string): string => `${prefixOf(runId)}machine`;
export const tableName = (runId: string): string => `${prefixOf(runId)}table`;
