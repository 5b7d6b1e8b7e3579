/**
 * What a map holds under a key that a user wrote; undefined for what every object inherits. "constructor" and
 * "toString" are lawful names of labels, resources and namespaces, so `map[key]` would return a function for them.
 * @example
 * ownValue(node.metadata.labels, pod.spec.topologyKey); // the node's value for any key, also for "constructor"
 */
export function ownValue<V>(map: Readonly<Record<string, V>> | undefined, key: string): V | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
}
