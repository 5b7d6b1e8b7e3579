import { expect, it } from "vitest";
import { catalogue, nodeClass, typesOf } from "../launch/support.ts";

const limitOf = (name: string, spec = {}) => typesOf({ nodeClass: nodeClass({ spec }) }).find((type) => type.name === name)?.volumeLimit;
const volume = { ebs: { volumeSize: "1Gi" } };
const interfaces = [0, 1].map((deviceIndex) => ({ networkCardIndex: 0, deviceIndex, interfaceType: "interface" }));

it.for([
  { name: "the root volume takes one place", type: "m5.large", spec: {}, want: 26 },
  { name: "each volume of the NodeClass takes one", type: "m5.large", spec: { blockDeviceMappings: [volume, volume] }, want: 25 },
  { name: "Bottlerocket has two volumes", type: "m5.large", spec: { amiFamily: "Bottlerocket" }, want: 25 },
  {
    name: "a second interface takes a place where interfaces share them",
    type: "m5.large",
    spec: { networkInterfaces: interfaces },
    want: 25,
  },
  { name: "and none where volumes have their own", type: "m7i.large", spec: { networkInterfaces: interfaces }, want: 31 },
  { name: "large types attach more", type: "m7i.48xlarge", spec: {}, want: 127 },
])("$name: $type takes $want volumes of pods", ({ type, spec, want }) => {
  expect(limitOf(type, spec)).toBe(want);
});

it("a catalogue without limits has none", () => {
  const types = catalogue.types.map(({ volumes: _, ...type }) => type);
  expect(typesOf({ catalogue: { ...catalogue, types } }).every(({ volumeLimit }) => volumeLimit === undefined)).toBe(true);
});
