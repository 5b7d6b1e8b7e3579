import { type SignedCaller, signedFetch } from "./signed-fetch.ts";

/** Where the stack is, and who asks. */
export type StackReader = Omit<SignedCaller, "service">;

/**
 * The outputs of a CloudFormation stack by their names. Throws one sentence when there is no such stack, or when it may
 * not be read. CloudFormation needs no SDK client here: few calls, and no list of them nests.
 */
export async function stackOutputs(stack: string, reader: StackReader): Promise<Readonly<Record<string, string>>> {
  return outputsOf(await cloudFormation("DescribeStacks", { StackName: stack }, reader));
}

/**
 * The answer of CloudFormation to a question or an order about the stack that it names, as XML. Throws one sentence
 * with CloudFormation's message.
 */
export async function cloudFormation(
  action: string,
  input: Readonly<Record<string, string>> & { readonly StackName: string },
  reader: StackReader,
): Promise<string> {
  const body = new URLSearchParams({ Action: action, Version: "2010-05-15", ...input }).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const response = await signedFetch({ ...reader, service: "cloudformation" }, { method: "POST", headers, body });
  const xml = await response.text();
  if (response.ok) return xml;
  throw new Error(`stack ${input.StackName} in ${reader.region}: ${text(xml, "Message") || `CloudFormation answers ${response.status}`}`);
}

/** The outputs in an answer to DescribeStacks. */
export function outputsOf(xml: string): Readonly<Record<string, string>> {
  const outputs = /<Outputs>([\s\S]*?)<\/Outputs>/.exec(xml)?.[1] ?? "";
  return Object.fromEntries(members(outputs).map((member) => [text(member, "OutputKey"), text(member, "OutputValue")]));
}

/** The innermost list members of an answer. */
export function members(xml: string): readonly string[] {
  return [...xml.matchAll(/<member>([\s\S]*?)<\/member>/g)].map(([, member = ""]) => member);
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["&lt;", "<"],
  ["&gt;", ">"],
  ["&quot;", '"'],
  ["&apos;", "'"],
  ["&amp;", "&"],
]);

/** The character of an entity, by its name or by its number. */
function character(entity: string): string {
  const [, hex, decimal] = /^&#(?:x([\da-f]{1,6})|(\d{1,7}));$/i.exec(entity) ?? [];
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : (ENTITIES.get(entity) ?? entity);
}

/** The text of the first element of this name; empty when there is none. */
export function text(xml: string, element: string): string {
  const found = new RegExp(`<${element}>([\\s\\S]*?)</${element}>`).exec(xml)?.[1] ?? "";
  return found.replaceAll(/&[#\w]+;/g, character);
}
