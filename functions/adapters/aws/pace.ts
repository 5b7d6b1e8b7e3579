import type { EC2Client } from "@aws-sdk/client-ec2";
import { type Pacemaker, tokenBucket } from "../token-bucket.ts";

/** EC2 throttles each account and region by token buckets, one per action; these are the sizes that EC2 documents. */
const DESCRIBE = { burst: 100, rate: 20 };
const CHANGE = { burst: 50, rate: 5 };
const OWN: Readonly<Record<string, typeof DESCRIBE>> = {
  TerminateInstances: { burst: 100, rate: 5 },
  CreateTags: { burst: 100, rate: 10 },
};

/**
 * The share of a bucket that one function uses: other users of the account and other functions need the rest. The SDK's
 * adaptive retries handle what is still throttled. No benchmark has tuned it.
 */
const SHARE_OF_LIMIT = 0.5;

/**
 * Limits each action of a client, retries included, to a share of EC2's token bucket for it, so that a burst of
 * NodeClaims leaves calls for the rest of the account. Returns the same client.
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
    // Behind the retry middleware, so that each attempt takes a token.
    { step: "finalizeRequest", priority: "low", name: "paced" },
  );
  return client;
}
