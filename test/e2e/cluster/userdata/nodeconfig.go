package userdata

import (
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// readNodeConfigs merges NodeConfig documents in order, as nodeadm does: maps deeply, the later value wins, kubelet
// flags add up.
func readNodeConfigs(documents []string) (Config, error) {
	c := Config{Family: "AL2023"}
	merged := map[string]any{}
	for i, text := range documents {
		var document map[string]any
		if err := yaml.Unmarshal([]byte(text), &document); err != nil {
			return c, fmt.Errorf("NodeConfig %d is not YAML: %w", i+1, err)
		}
		version, _ := document["apiVersion"].(string)
		if document["kind"] != "NodeConfig" || !strings.HasPrefix(version, "node.eks.aws/") {
			return c, fmt.Errorf("NodeConfig %d is a %v of %v, not a NodeConfig of node.eks.aws", i+1, document["kind"], document["apiVersion"])
		}
		merge(merged, document)
	}
	spec := object(merged, "spec")
	cluster := object(spec, "cluster")
	c.ClusterName, c.Endpoint = text(cluster, "name"), text(cluster, "apiServerEndpoint")
	c.CA, c.CIDR = text(cluster, "certificateAuthority"), text(cluster, "cidr")
	config := object(object(spec, "kubelet"), "config")
	if n, ok := config["maxPods"].(float64); ok {
		c.MaxPods = int(n)
	}
	taints, _ := config["registerWithTaints"].([]any)
	for _, t := range taints {
		taint, _ := t.(map[string]any)
		c.Taints = append(c.Taints, Taint{text(taint, "key"), text(taint, "value"), text(taint, "effect")})
	}
	c.KubeReserved, c.SystemReserved = texts(config, "kubeReserved"), texts(config, "systemReserved")
	c.EvictionHard = texts(config, "evictionHard")
	flags, _ := object(spec, "kubelet")["flags"].([]any)
	var words []string
	for _, f := range flags {
		words = append(words, fmt.Sprint(f))
	}
	return c, c.flags(words)
}

func merge(into, from map[string]any) {
	for key, value := range from {
		old, both := into[key].(map[string]any)
		if new, ok := value.(map[string]any); ok && both {
			merge(old, new)
			continue
		}
		if more, ok := value.([]any); ok && key == "flags" {
			before, _ := into[key].([]any)
			value = append(append([]any{}, before...), more...)
		}
		into[key] = value
	}
}

func object(m map[string]any, key string) map[string]any {
	o, _ := m[key].(map[string]any)
	return o
}

func text(m map[string]any, key string) string {
	switch v := m[key].(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}

func texts(m map[string]any, key string) map[string]string {
	o := object(m, key)
	if o == nil {
		return nil
	}
	out := map[string]string{}
	for k := range o {
		out[k] = text(o, k)
	}
	return out
}
