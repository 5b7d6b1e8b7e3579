import { intentBatches } from "#adapters/store/intent-batches.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";

/**
 * The same store, with each transaction of `writeIntents` as a call of its own, so that a kill between two of them, or
 * between one and what follows it, is one between two calls (intercept.ts).
 */
export const inTransactions = <S extends NodeClaimStore>(store: S): S =>
  new Proxy(store, {
    get(target, property, receiver) {
      if (property !== "writeIntents") return Reflect.get(target, property, receiver);
      const writeIntents: NodeClaimStore["writeIntents"] = async (lease, records, command, history, onWritten) => {
        for (const [i, batch] of intentBatches(records, command !== undefined, history).entries()) {
          const written = batch.intents.map(({ record }) => record);
          const told = [...batch.history, ...batch.intents.flatMap((intent) => intent.history)];
          await store.writeIntents(lease, written, i === 0 ? command : undefined, told);
          await onWritten?.(written);
        }
      };
      return writeIntents;
    },
  });
