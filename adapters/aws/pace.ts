import type { EC2Client } from "@aws-sdk/client-ec2";
import { isThrottled } from "./errors.ts";
import type { RequestPacer } from "./request-pace.ts";

/**
 * Has each request of a client wait for its turn, retries included, and reports to the pace when EC2 throttles one.
 * Returns the same client.
 */
export function pacedEc2(client: EC2Client, pace: RequestPacer): EC2Client {
  client.middlewareStack.add(
    (next, { commandName = "" }) =>
      async (args) => {
        const action = commandName.replace(/Command$/, "");
        await pace.turn(action);
        try {
          return await next(args);
        } catch (error) {
          if (isThrottled(error)) await pace.throttled(action);
          throw error;
        }
      },
    // Behind the retry middleware, so that each attempt takes a token.
    { step: "finalizeRequest", priority: "low", name: "paced" },
  );
  return client;
}
