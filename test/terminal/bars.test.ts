import { expect, it } from "vitest";
import { parseResources } from "#core/model/quantity.ts";
import { bar, roomBars } from "#terminal/bars.ts";

it.for([
  { share: 0, want: "░░░░░░░░░░" },
  { share: 0.04, want: "░░░░░░░░░░" },
  { share: 0.6, want: "██████░░░░" },
  { share: 1, want: "██████████" },
  { share: 1.7, want: "██████████" },
  { share: -1, want: "░░░░░░░░░░" },
])("the bar of $share is $want", ({ share, want }) => {
  expect(bar(share, 10)).toBe(want);
});

it("room is told by resource, the tightest first, and what nobody asks for is left out", () => {
  const used = parseResources({ cpu: "1600m", memory: "64Mi", "nvidia.com/gpu": "0" });
  expect(roomBars(used, parseResources({ cpu: "1900m", memory: "7.5Gi", pods: "29" }))).toEqual([
    "cpu     █████████████████░░░  84%  1.6 of 1.9",
    "memory  ░░░░░░░░░░░░░░░░░░░░   1%  64Mi of 7.5Gi",
  ]);
});

it("a resource that the node does not have is full", () => {
  expect(roomBars(parseResources({ "example.com/dongle": "1" }), {})).toEqual([expect.stringMatching(/^example\.com\/dongle {2}█{20} /)]);
});
