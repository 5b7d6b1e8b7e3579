package userdata

import (
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

// readBottlerocket reads [settings.kubernetes].
func readBottlerocket(document string) (Config, error) {
	c := Config{Family: "Bottlerocket"}
	var root map[string]any
	if err := toml.Unmarshal([]byte(document), &root); err != nil {
		return c, fmt.Errorf("the user data is no MIME document, script or NodeConfig, and not TOML either: %w", err)
	}
	k := object(object(root, "settings"), "kubernetes")
	if k == nil {
		return c, fmt.Errorf("the user data has no [settings.kubernetes]")
	}
	c.ClusterName, c.Endpoint, c.CA = text(k, "cluster-name"), text(k, "api-server"), text(k, "cluster-certificate")
	switch n := k["max-pods"].(type) {
	case nil:
	case int64:
		c.MaxPods = int(n)
	default:
		return c, fmt.Errorf("settings.kubernetes.max-pods is %v, not a whole number", n)
	}
	for key, value := range texts(k, "node-labels") {
		c.label(key, value)
	}
	for key, value := range object(k, "node-taints") {
		var each []any
		switch v := value.(type) {
		case []any:
			each = v
		default:
			each = []any{v} // before Bottlerocket 1.19 a taint was one string
		}
		for _, e := range each {
			value, effect, ok := strings.Cut(fmt.Sprint(e), ":")
			if !ok {
				return c, fmt.Errorf("settings.kubernetes.node-taints.%q is %q, not \"VALUE:EFFECT\"", key, e)
			}
			c.Taints = append(c.Taints, Taint{key, value, effect})
		}
	}
	sortTaints(c.Taints) // a TOML table has no order
	c.KubeReserved, c.SystemReserved, c.EvictionHard = texts(k, "kube-reserved"), texts(k, "system-reserved"), texts(k, "eviction-hard")
	return c, nil
}
