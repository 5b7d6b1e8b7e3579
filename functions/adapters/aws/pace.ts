import type { EC2Client } from "@aws-sdk/client-ec2";
import { type Pacemaker, tokenBucket } from "../token-bucket.ts";

/** EC2 throttles each account and region by buckets of tokens, one for each action; these are the sizes that it documents. */
const DESCRIBE = { burst: 100, rate: 20 };
const CHANGE = { burst: 50, rate: 5 };
const OWN: Readonly<Record<string, typeof DESCRIBE>> = {
  TerminateInstances: { burst: 100, rate: 5 },
  CreateTags: { burst: 100, rate: 10 },
};

/** The account has others in it, and functions run beside each other: none may take all there is. The SDK's adaptive retries see to the rest. */
const SHARE_OF_LIMIT = 0.5;

/**
 * Holds each action of a client to a share of its bucket in EC2, retries included, so that a burst of claims does not use up what the rest of the account
 * lives on. Returns the same client.
 */
export function pacedEc2(client: EC2Client, pacemaker?: Pacemaker): EC2Client {
  const turns = new Map<string, () => Promise<void>>();
  const turnOf = (action: string): (() => Promise<void>) => {
    const known = turns.get(action);
    if (known !== undefined) return known;
    const { burst, rate } = OWN[action] ?? (action.startsWith("Describe") ? DESCRIBE : CHANGE);
    const turn = tokenBucket({ burst: burst * SHARE_OF_LIMIT, rate: rate * SHARE_OF_LIMIT }, pacemaker);
    turns.set(action, turn);
    return turn;
  };
  client.middlewareStack.add(
    (next, { commandName = "" }) =>
      async (args) => {
        await turnOf(commandName.replace(/Command$/, ""))();
        return next(args);
      },
    // After the middleware that retries, so that each attempt takes its turn.
    { step: "finalizeRequest", priority: "low", name: "paced" },
  );
  return client;
}
