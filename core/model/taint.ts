export type TaintEffect = "NoSchedule" | "PreferNoSchedule" | "NoExecute";

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: TaintEffect;
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: "Exists" | "Equal" | "Gt" | "Lt";
  readonly value?: string;
  /** An empty or absent effect matches every effect. */
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}
