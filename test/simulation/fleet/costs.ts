import type { PortCall } from "#lab/world/intercept.ts";

/**
 * What remote calls take, ms, where functions, table and API servers are in one region. CPU time is not here: the
 * product's own is measured while it runs (lambda.ts). The lab hands over objects that are parsed, so that parsing is
 * added for each.
 */

/** From a cold start to the handler: docs/compare.md says up to two seconds. */
export const INIT_MS = 1_500;
/** A machine of today's Lambda runs a thread alone from this memory on, MB. */
export const WHOLE_CPU_MB = 1_769;

const KUBERNETES_MS = 10;
/** The API server writes a page of 500 objects. */
const PAGE = 500;
const PAGE_MS = 90;
/**
 * To gunzip and parse an object of a cluster in which nodes have images and pods have environments. Measured by
 * test/bench/large-cluster.ts: 0.52 s of CPU between a cold and a warm plan of 12,000 objects, and half as much again
 * for TLS and gzip, which that bench does not have.
 */
const OBJECT_CPU_MS = 0.065;
const TABLE_MS = 5;
export const TABLE_WRITE_MS = 8;
/** DynamoDB answers a query in pages of 1 MB: some 900 records. */
const RECORDS_PER_PAGE = 900;
const RECORD_CPU_MS = 0.06;
const QUEUE_MS = 12;
const EC2_READ_MS = 150;
const EC2_WRITE_MS = 300;
/** CreateFleet of type instant answers when the instances exist. */
const CREATE_FLEET_MS = 1_500;
const INVENTORY_MS = 150;

/** The time on the wire, and the CPU time that the caller needs for the answer, ms. */
export interface Cost {
  readonly wireMs: number;
  readonly cpuMs: number;
}

const TABLE_READS = /^(get|list|byInstance|unavailable|commands|document|history)/;

/** Lists that an environment remembers, by their key. */
export interface RememberedLists {
  /** Whether the list was remembered; it is from now on, if it is longer than a page. */
  recall(key: string, size: number): boolean;
}

export function costOf({ port, method, args }: PortCall, result: unknown, lists: RememberedLists, cluster: string): Cost {
  const size = Array.isArray(result) ? result.length : 0;
  switch (port) {
    case "kubernetes": {
      if (method !== "list" || lists.recall(JSON.stringify([cluster, ...args]), size)) return { wireMs: KUBERNETES_MS, cpuMs: 0 };
      return { wireMs: KUBERNETES_MS + Math.floor(size / PAGE) * PAGE_MS, cpuMs: size * OBJECT_CPU_MS };
    }
    case "store":
      if (!TABLE_READS.test(method)) return { wireMs: TABLE_WRITE_MS, cpuMs: 0 };
      return { wireMs: TABLE_MS * (1 + Math.floor(size / RECORDS_PER_PAGE)), cpuMs: size * RECORD_CPU_MS };
    case "wakeUps":
      return { wireMs: QUEUE_MS * Math.max(1, Math.ceil(((args[0] as readonly unknown[] | undefined)?.length ?? 0) / 10)), cpuMs: 0 };
    case "fleet":
      if (/^launch/.test(method)) return { wireMs: CREATE_FLEET_MS, cpuMs: 0 };
      return { wireMs: /^(describe|list|impaired)/.test(method) ? EC2_READ_MS : EC2_WRITE_MS, cpuMs: size * OBJECT_CPU_MS };
    default:
      return { wireMs: INVENTORY_MS, cpuMs: 0 };
  }
}

/**
 * How long a function waits for an API server that answers nothing, ms (adapters/kubernetes/transport.ts): a
 * reading is tried twice.
 */
export const SILENT_READ_MS = 20_100;
export const SILENT_WRITE_MS = 10_000;
