import { eventBus } from "#adapters/aws/event-bus.ts";
import type { Announcements } from "#core/ports/announcements.ts";
import { noAnnouncements } from "../shared/announce.ts";
import type { Base } from "./base.ts";

/** Announcements as events on the bus that EVENT_BUS_NAME names; none without a bus. */
export function wireAnnouncements({ config, log }: Pick<Base, "config" | "log">): Announcements {
  return config.eventBusName === undefined ? noAnnouncements : eventBus({ busName: config.eventBusName, log });
}
