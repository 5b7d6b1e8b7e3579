import type { LaunchTemplate } from "../model/fleet.ts";
import type { EC2NodeClassSpec } from "../model/node-class.ts";

type Interfaces = LaunchTemplate["networkInterfaces"];

/**
 * The network interfaces of an instance: the list of the NodeClass, else one EFA on each of the first cards when pods
 * request EFA, else undefined. Device 0 of the first card is the primary interface, so other cards start with device 1
 * (karpenter-provider-aws: pkg/providers/launchtemplate/launchtemplate.go, generateNetworkInterfaces).
 * @param efa number of EFA interfaces of the instance type; 0 when pods request none
 */
export function networkInterfacesOf({ networkInterfaces = [] }: Pick<EC2NodeClassSpec, "networkInterfaces">, efa: number): Interfaces {
  if (networkInterfaces.length > 0) {
    return networkInterfaces.map(({ networkCardIndex, deviceIndex, interfaceType }) => {
      return { card: networkCardIndex, device: deviceIndex, type: interfaceType };
    });
  }
  return efa > 0 ? Array.from({ length: efa }, (_, card) => ({ card, device: card === 0 ? 0 : 1, type: "efa" })) : undefined;
}
