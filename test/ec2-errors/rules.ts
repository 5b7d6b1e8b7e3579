import { kindOfError, remedyFor } from "#core/offerings/ec2-errors.ts";
import type { Seen } from "./play.ts";

/** Messages of EC2 that the texts read; all other codes have one of their own. */
const MESSAGES: Readonly<Record<string, string>> = {
  VcpuLimitExceeded:
    "You have requested more vCPU capacity than your current vCPU limit of 5 allows for the instance bucket that the specified instance type belongs to.",
  InsufficientFreeAddressesInSubnet:
    "There are not enough free addresses in subnet 'subnet-0a1b2c3d' to satisfy the requested number of instances.",
};

export const messageOf = (code: string): string => MESSAGES[code] ?? `what EC2 says of ${code}`;

/** The rules that what is seen of a code breaks: it is named everywhere, with a remedy, and is no lack of capacity. */
export function broken(code: string, seen: Seen): readonly string[] {
  const said = { code, message: messageOf(code) };
  const remedy = remedyFor(said, { zone: "us-west-2", instanceType: "c5.large" });
  // The first words of a remedy are the same wherever the region and the quota are known, and the commands wrap lines.
  const start = remedy.split(" ").slice(0, 2).join(" ");
  return Object.entries(seen).flatMap(([place, text]) => {
    const flat = text.replace(/\s+/g, " ");
    const own = flat.replaceAll(said.message.replace(/\.$/, ""), "").replaceAll(code, "");
    return [
      ...(flat.includes(code) ? [] : [`${place} does not name ${code}`]),
      ...(flat.includes(start) ? [] : [`${place} does not say: ${remedy}`]),
      ...(kindOfError(said) !== "capacity" && /want of capacity|no [\w ,-]*capacity for/.test(own)
        ? [`${place} calls it a lack of capacity`]
        : []),
    ];
  });
}
