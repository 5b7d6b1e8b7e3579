package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// join lets fake nodes join a running cluster, as if instances had booted.
func join(args []string) error {
	fs := flag.NewFlagSet("join", flag.ExitOnError)
	dir := fs.String("data-dir", "testcluster-data", "the running cluster's folder")
	name := fs.String("name", "ip-10-0-0-1.us-west-2.compute.internal", "the node's name; with -count a prefix")
	count := fs.Int("count", 0, "join NAME-0 to NAME-(count-1)")
	itype := fs.String("instance-type", "m5.xlarge", "instance type label")
	zones := fs.String("zones", "us-west-2a", "zones, taken in turn")
	capType := fs.String("capacity-type", "on-demand", "karpenter.sh/capacity-type label")
	cpu := fs.String("cpu", "4", "capacity")
	memory := fs.String("memory", "16Gi", "capacity")
	pods := fs.String("pods", "58", "capacity")
	var labels, taints list
	fs.Var(&labels, "label", "KEY=VALUE (repeatable)")
	fs.Var(&taints, "taint", "KEY[=VALUE]:EFFECT (repeatable)")
	_ = fs.Parse(args)

	raw, err := os.ReadFile(filepath.Join(*dir, "ready.json"))
	if err != nil {
		return err
	}
	var cluster struct{ Control string }
	if err := json.Unmarshal(raw, &cluster); err != nil {
		return err
	}
	zone := strings.Split(*zones, ",")
	node := func(name string, i int) (*corev1.Node, error) {
		z := zone[i%len(zone)]
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
			corev1.LabelInstanceTypeStable: *itype, corev1.LabelTopologyZone: z, corev1.LabelTopologyRegion: z[:len(z)-1],
			"karpenter.sh/capacity-type": *capType,
		}}}
		n.Spec.ProviderID = fmt.Sprintf("aws:///%s/i-%017x", z, fnv(name))
		for _, l := range labels {
			k, v, _ := strings.Cut(l, "=")
			n.Labels[k] = v
		}
		for _, t := range taints {
			kv, effect, _ := strings.Cut(t, ":")
			k, v, _ := strings.Cut(kv, "=")
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: k, Value: v, Effect: corev1.TaintEffect(effect)})
		}
		n.Status.Capacity = corev1.ResourceList{"ephemeral-storage": resource.MustParse("20Gi")}
		for k, v := range map[corev1.ResourceName]string{"cpu": *cpu, "memory": *memory, "pods": *pods} {
			q, err := resource.ParseQuantity(v)
			if err != nil {
				return nil, fmt.Errorf("%s %q: %w", k, v, err)
			}
			n.Status.Capacity[k] = q
		}
		n.Status.Allocatable = n.Status.Capacity
		n.Status.Addresses = addresses(name)
		return n, nil
	}
	names := []string{*name}
	if *count > 0 {
		names = nil
		for i := range *count {
			names = append(names, fmt.Sprintf("%s-%d", *name, i))
		}
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make(chan error, 8)
	for range 8 {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(names); i = int(next.Add(1)) - 1 {
				n, err := node(names[i], i)
				if err == nil {
					err = post(cluster.Control+"/join", n)
				}
				if err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	return <-errs
}

func post(url string, n *corev1.Node) error {
	body, err := json.Marshal(n)
	if err != nil {
		return err
	}
	r, err := http.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer r.Body.Close()
	out, _ := io.ReadAll(r.Body)
	if r.StatusCode != http.StatusCreated {
		return fmt.Errorf("%s: %s", r.Status, strings.TrimSpace(string(out)))
	}
	return nil
}

// addresses gives the private address that is in an instance's name (ip-10-0-1-10.…), none for another name.
func addresses(name string) []corev1.NodeAddress {
	host, _, _ := strings.Cut(name, ".")
	if quad, ok := strings.CutPrefix(host, "ip-"); ok {
		if ip := net.ParseIP(strings.ReplaceAll(quad, "-", ".")); ip != nil {
			return []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: ip.String()}}
		}
	}
	return nil
}

func fnv(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h & (1<<60 - 1)
}
