// Package userdata reads an instance's user data as the bootstrap of its AMI would: nodeadm on AL2023, bootstrap.sh on
// AL2, Bottlerocket's settings, the EKS script on Windows.
package userdata

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"sort"
	"strconv"
	"strings"
)

// A Taint as the user data writes it.
type Taint struct{ Key, Value, Effect string }

// Config is what a bootstrap learns from user data. CA is base64 of PEM, as written. Nil maps: nothing said.
type Config struct {
	Family                                     string // AL2023, AL2, Bottlerocket or Windows
	ClusterName, Endpoint, CA, CIDR            string
	MaxPods                                    int // 0: nothing said
	Labels                                     map[string]string
	Taints                                     []Taint
	KubeReserved, SystemReserved, EvictionHard map[string]string
}

// Read gives the configuration in decoded user data, or an error with one sentence that says what no node can start
// from.
func Read(text string) (Config, error) {
	trimmed := strings.TrimSpace(text)
	var c Config
	var err error
	switch {
	case trimmed == "":
		return c, errors.New("the user data is empty")
	case strings.HasPrefix(trimmed, "MIME-Version:") || strings.HasPrefix(trimmed, "Content-Type:"):
		c, err = readMIME(trimmed)
	case strings.HasPrefix(trimmed, "<powershell>"):
		c, err = readWindows(trimmed)
	case strings.HasPrefix(trimmed, "#!"):
		c, err = readShell(trimmed)
	case strings.HasPrefix(trimmed, "apiVersion:") || strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "---"):
		c, err = readNodeConfigs([]string{trimmed})
	default:
		c, err = readBottlerocket(trimmed)
	}
	if err != nil {
		return c, err
	}
	for what, value := range map[string]string{"a cluster name": c.ClusterName, "an API server endpoint": c.Endpoint, "a certificate authority": c.CA} {
		if value == "" {
			return c, fmt.Errorf("the %s user data lacks %s", c.Family, what)
		}
	}
	if c.Family == "AL2023" && c.CIDR == "" {
		return c, errors.New("the NodeConfig lacks spec.cluster.cidr, without which nodeadm does not start")
	}
	return c, nil
}

func readMIME(text string) (Config, error) {
	var none Config
	m, err := mail.ReadMessage(strings.NewReader(text))
	if err != nil {
		return none, fmt.Errorf("the user data's MIME header cannot be read: %w", err)
	}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || !strings.HasPrefix(kind, "multipart/") {
		return none, fmt.Errorf("the user data's Content-Type is %q, not multipart", m.Header.Get("Content-Type"))
	}
	var nodeConfigs, scripts []string
	reader := multipart.NewReader(m.Body, params["boundary"])
	for {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return none, fmt.Errorf("the user data's MIME parts (boundary %q) cannot be read: %w", params["boundary"], err)
		}
		body, err := io.ReadAll(part)
		if err != nil {
			return none, fmt.Errorf("a MIME part of the user data ends early: %w", err)
		}
		kind, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
		switch kind {
		case "application/node.eks.aws":
			nodeConfigs = append(nodeConfigs, string(body))
		case "text/x-shellscript":
			if bytes.Contains(body, []byte(bootstrapScript)) {
				scripts = append(scripts, string(body))
			}
		}
	}
	switch {
	case len(nodeConfigs) > 0:
		return readNodeConfigs(nodeConfigs)
	case len(scripts) > 0:
		return readShell(scripts[len(scripts)-1])
	}
	return none, errors.New("the user data has neither a part of type application/node.eks.aws nor a script that calls " + bootstrapScript)
}

// flags takes kubelet flags ("--name=value") into the configuration, as the kubelet would.
func (c *Config) flags(words []string) error {
	for i := 0; i < len(words); i++ {
		name, value, ok := strings.Cut(words[i], "=")
		if !ok && i+1 < len(words) {
			i++
			value = words[i]
		}
		value = strings.Trim(value, `"'`)
		var err error
		switch name {
		case "--node-labels":
			for _, pair := range split(value) {
				k, v, _ := strings.Cut(pair, "=")
				c.label(k, v)
			}
		case "--register-with-taints":
			for _, t := range split(value) {
				kv, effect, ok := strings.Cut(t, ":")
				if !ok {
					return fmt.Errorf("the taint %q has no effect", t)
				}
				k, v, _ := strings.Cut(kv, "=")
				c.Taints = append(c.Taints, Taint{k, v, effect})
			}
		case "--max-pods":
			if c.MaxPods, err = strconv.Atoi(value); err != nil {
				return fmt.Errorf("--max-pods=%s is not a number", value)
			}
		case "--kube-reserved":
			c.KubeReserved, err = pairs(value, "=")
		case "--system-reserved":
			c.SystemReserved, err = pairs(value, "=")
		case "--eviction-hard":
			c.EvictionHard, err = pairs(value, "<")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (c *Config) label(key, value string) {
	if c.Labels == nil {
		c.Labels = map[string]string{}
	}
	c.Labels[key] = value
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

func pairs(list, separator string) (map[string]string, error) {
	out := map[string]string{}
	for _, pair := range split(list) {
		k, v, ok := strings.Cut(pair, separator)
		if !ok {
			return nil, fmt.Errorf("%q has no %q", pair, separator)
		}
		out[k] = v
	}
	return out, nil
}

func sortTaints(taints []Taint) {
	sort.Slice(taints, func(i, j int) bool { return taints[i].Key+taints[i].Effect < taints[j].Key+taints[j].Effect })
}
