import type { NodeOverlay, NodeOverlaySpec } from "#core/model/node-overlay.ts";
import * as objects from "../../support/objects.ts";

/** A NodeOverlay of every instance type, unless the spec has requirements. */
export const nodeOverlay = (name: string, spec: Partial<NodeOverlaySpec>): NodeOverlay => objects.nodeOverlay(name, { spec });

/** The requirement that a label has one of these values. */
export const only = (key: string, ...values: string[]) => ({ key, operator: "In" as const, values });
