/** A bucket of requests: as many at once, and as many a second on average. */
export interface RequestBucket {
  readonly burst: number;
  readonly perSecond: number;
}

/**
 * EC2 gives each account, region and action a bucket of its own; these are the sizes that it documents
 * (Amazon EC2 Developer Guide, Request throttling for the Amazon EC2 API, Request token bucket sizes and refill rates).
 * An account may have larger ones, which is not asked for.
 */
const DESCRIBE: RequestBucket = { burst: 100, perSecond: 20 };
const CHANGE: RequestBucket = { burst: 50, perSecond: 5 };
const OWN: Readonly<Record<string, RequestBucket>> = {
  TerminateInstances: { burst: 100, perSecond: 5 },
  CreateTags: { burst: 100, perSecond: 10 },
};

const isQuestion = (action: string): boolean => action.startsWith("Describe");

/** EC2's bucket for an action: "CreateFleet". */
export function bucketOf(action: string): RequestBucket {
  return (Object.hasOwn(OWN, action) ? OWN[action] : undefined) ?? (isQuestion(action) ? DESCRIBE : CHANGE);
}

/** Questions come one by one: a twentieth of their bucket may be drawn at a time, so that most of them ask no table. */
const AHEAD_SHARE = 0.05;

/** How many requests may be drawn ahead of their need. Changes never are: each is needed now. */
export function aheadOf(action: string): number {
  return isQuestion(action) ? Math.floor(bucketOf(action).burst * AHEAD_SHARE) : 0;
}
