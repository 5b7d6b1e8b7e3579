import { ownCaller } from "#adapters/aws/own-caller.ts";
import { secretText } from "#adapters/aws/secret.ts";
import { type StackReader, stackOutputs } from "#adapters/aws/stack-outputs.ts";
import { BadInput } from "./end-with.ts";

/** What a deployed stack says about the URLs that API servers call, in the form of ManifestOptions. */
export interface StackWebhooks {
  readonly notifyUrl?: string;
  readonly notifyToken?: string;
  readonly admissionUrl?: string;
  readonly admissionToken?: string;
}

/**
 * Reads the URLs of a deployed stack from its outputs, and their tokens from Secrets Manager, with the caller's
 * credentials. Throws BadInput with one sentence when one of them cannot be read.
 */
export async function webhooksOf(stack: string, region: string, reader: Partial<StackReader> = {}): Promise<StackWebhooks> {
  const asked = (service: string): StackReader => ({ ...ownCaller(service, region), ...reader });
  try {
    const outputs = await stackOutputs(stack, asked("CLOUDFORMATION"));
    const { NotifyUrl: notifyUrl, AdmissionUrl: admissionUrl } = outputs;
    const token = async (name: string): Promise<string> => secretText(outputs[`${name}TokenArn`] ?? "", asked("SECRETS_MANAGER"));
    return {
      ...(notifyUrl !== undefined && { notifyUrl, notifyToken: await token("Notify") }),
      ...(admissionUrl !== undefined && { admissionUrl, admissionToken: await token("Admission") }),
    };
  } catch (error) {
    const why = (error instanceof Error ? error.message : String(error)).replace(/\.$/, "");
    throw new BadInput(`${why}; check --stack, --region and your AWS credentials, or give the URLs and tokens themselves.`);
  }
}
