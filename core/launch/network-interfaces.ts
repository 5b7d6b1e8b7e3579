import type { LaunchTemplate } from "../model/fleet.ts";
import type { EC2NodeClassSpec } from "../model/node-class.ts";

type Interfaces = LaunchTemplate["networkInterfaces"];

/**
 * The network interfaces of an instance: as the NodeClass lists them, else one EFA on each of the first cards when EFA is asked for, else undefined. A card's
 * device 0 is the instance's primary interface, so that cards after the first start with device 1 (launch.md §3).
 * @param efa how many EFA interfaces pods have asked for, by the type's own number.
 */
export function networkInterfacesOf({ networkInterfaces = [] }: Pick<EC2NodeClassSpec, "networkInterfaces">, efa: number): Interfaces {
  if (networkInterfaces.length > 0) {
    return networkInterfaces.map(({ networkCardIndex, deviceIndex, interfaceType }) => {
      return { card: networkCardIndex, device: deviceIndex, type: interfaceType };
    });
  }
  return efa > 0 ? Array.from({ length: efa }, (_, card) => ({ card, device: card === 0 ? 0 : 1, type: "efa" })) : undefined;
}
