import type { Path } from "#core/lib/json.ts";

/** The parts of an OpenAPI v3 schema that our CRDs use. CEL rules are not evaluated. */
export interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxProperties?: number;
  readonly default?: unknown;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
}

/** What is wrong at one place of an object, and how to fix it, in one sentence. */
export interface Problem {
  readonly path: Path;
  readonly message: string;
}

/** A path as text: "spec.containers[0].name". */
export const fieldPath = (path: Path): string =>
  path.reduce<string>((text, step) => (typeof step === "number" ? `${text}[${step}]` : text === "" ? step : `${text}.${step}`), "");
