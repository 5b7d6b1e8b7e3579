/** Requests at a time; the API server shares its capacity with kube-scheduler just then. No benchmark has tuned it. */
const MAX_AT_A_TIME = 10;

/**
 * The results of `work` for each item, in no order. After a failure the work that has begun ends, no other begins, and
 * the failure is thrown.
 */
export async function someAtATime<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const queue = items.values();
  const results: R[] = [];
  let hasFailed = false;
  const worker = async (): Promise<void> => {
    for (const item of queue) {
      if (hasFailed) return;
      results.push(await work(item));
    }
  };
  const ends = await Promise.allSettled(
    Array.from({ length: MAX_AT_A_TIME }, () =>
      worker().catch((error: unknown) => {
        hasFailed = true;
        throw error;
      }),
    ),
  );
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  return results;
}
