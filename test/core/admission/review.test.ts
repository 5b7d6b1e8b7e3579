import { expect, it } from "vitest";
import { withDefaults } from "#core/admission/defaults.ts";
import { review } from "#core/admission/review.ts";
import type { JsonObject } from "#core/lib/json.ts";
import { SAMPLES } from "../../infra/crd-samples.ts";
import { NODE_OVERLAY_SAMPLES } from "../../infra/node-overlay-samples.ts";

const accepted = [...SAMPLES, ...NODE_OVERLAY_SAMPLES].filter(({ refused }) => refused === undefined);

it.for(accepted)("a sample that the schema accepts is accepted without warnings: $name", ({ object }) => {
  expect(review(object as JsonObject)).toEqual({ problems: [], warnings: [] });
  expect(review(withDefaults(object as JsonObject))).toEqual({ problems: [], warnings: [] });
});
