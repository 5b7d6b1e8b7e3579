import { type SignedCaller, signedFetch } from "./signed-fetch.ts";

/** Where the stack is, and who asks. */
export type StackReader = Omit<SignedCaller, "service">;

/**
 * The outputs of a CloudFormation stack by their names. Throws one sentence when there is no such stack, or when it may
 * not be read. The one call to CloudFormation that the commands need, so they need not its SDK client.
 */
export async function stackOutputs(stack: string, reader: StackReader): Promise<Readonly<Record<string, string>>> {
  const body = new URLSearchParams({ Action: "DescribeStacks", Version: "2010-05-15", StackName: stack }).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const response = await signedFetch({ ...reader, service: "cloudformation" }, { method: "POST", headers, body });
  const xml = await response.text();
  if (!response.ok)
    throw new Error(`stack ${stack} in ${reader.region}: ${text(xml, "Message") || `CloudFormation answers ${response.status}`}`);
  const outputs = /<Outputs>([\s\S]*?)<\/Outputs>/.exec(xml)?.[1] ?? "";
  const members = [...outputs.matchAll(/<member>([\s\S]*?)<\/member>/g)].map(([, member = ""]) => member);
  return Object.fromEntries(members.map((member) => [text(member, "OutputKey"), text(member, "OutputValue")]));
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["&lt;", "<"],
  ["&gt;", ">"],
  ["&quot;", '"'],
  ["&apos;", "'"],
  ["&#39;", "'"],
  ["&amp;", "&"],
]);

/** The text of the first element of this name; empty when there is none. */
function text(xml: string, element: string): string {
  const found = new RegExp(`<${element}>([\\s\\S]*?)</${element}>`).exec(xml)?.[1] ?? "";
  return found.replaceAll(/&[#\w]+;/g, (entity) => ENTITIES.get(entity) ?? entity);
}
