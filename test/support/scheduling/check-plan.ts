export function brokenRules(
  _scenario: { readonly instanceTypes: Parameters<typeof import("./claim-price.ts").claimPrice>[0]["instanceTypes"] },
  _plan: unknown,
): readonly string[] {
  return [];
}
