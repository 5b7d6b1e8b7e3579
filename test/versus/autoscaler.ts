import type { AwsEvent } from "../e2e/fake-aws/options.ts";
import type { AutoscalerName, Usage } from "./figures.ts";

/** An autoscaler at work in the cluster of a stage. */
export interface Autoscaler {
  readonly name: AutoscalerName;
  /** Whether a user of the API server is the autoscaler, or a part of it. */
  readonly isUser: (username: string) => boolean;
  /** What it has used since it was started. */
  readonly usage: () => Promise<Usage>;
  /** Its log files, complete up to now. */
  readonly logs: () => Promise<readonly string[]>;
  /** What has gone wrong on the way to it, one sentence each: such a run says little about the autoscaler. */
  readonly troubles: () => readonly string[];
  /** Takes an event of EC2. */
  readonly notify: (event: AwsEvent) => Promise<void>;
  stop(): Promise<void>;
}
