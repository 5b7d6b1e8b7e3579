package main

import (
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"karpenter-serverless/test/e2e/cluster/userdata"
)

func pemOf(der string) string {
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte(der)}))
}

func userData(change string, to string) string {
	return strings.Replace(`apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster: {name: main, apiServerEndpoint: "https://127.0.0.1:6443", certificateAuthority: "`+pemOf("ours")+`", cidr: 10.96.0.0/16}
  kubelet:
    config: {maxPods: 58, registerWithTaints: [{key: karpenter.sh/unregistered, effect: NoExecute}]}
    flags: ["--node-labels=team=a"]
`, change, to, 1)
}

func booting(userData string) machine {
	return machine{InstanceID: "i-1", Zone: "us-west-2a", Region: "us-west-2", InstanceType: "m5.xlarge", PrivateDNSName: "ip-10-0-1-10.us-west-2.compute.internal", UserData: userData,
		Capacity: corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("16Gi"), "pods": resource.MustParse("110"), "ephemeral-storage": resource.MustParse("20Gi")}}
}

var here = &bootstrap{clusterName: "main", server: "https://127.0.0.1:6443", ca: []byte("ours")}

func TestNode(t *testing.T) {
	n, err := here.node(booting(userData("", "")))
	if err != nil {
		t.Fatal(err)
	}
	if n.Name != "ip-10-0-1-10.us-west-2.compute.internal" || n.Spec.ProviderID != "aws:///us-west-2a/i-1" || n.Status.Addresses[0].Address != "10.0.1.10" {
		t.Errorf("name %s, provider ID %s, addresses %v", n.Name, n.Spec.ProviderID, n.Status.Addresses)
	}
	for label, want := range map[string]string{"team": "a", corev1.LabelTopologyZone: "us-west-2a", corev1.LabelArchStable: "amd64", corev1.LabelInstanceTypeStable: "m5.xlarge", corev1.LabelHostname: n.Name} {
		if n.Labels[label] != want {
			t.Errorf("label %s is %q, not %q", label, n.Labels[label], want)
		}
	}
	if len(n.Spec.Taints) != 1 || n.Spec.Taints[0].Key != "karpenter.sh/unregistered" || n.Spec.Taints[0].Effect != corev1.TaintEffectNoExecute {
		t.Errorf("taints %v", n.Spec.Taints)
	}
	// 4 cores: 60 + 10 + 2·5 m; 58 pods: 893 Mi and 100 Mi for eviction; 1 Gi and 10 % of the disk.
	for name, want := range map[corev1.ResourceName]string{"cpu": "3920m", "memory": "15391Mi", "pods": "58", "ephemeral-storage": "17Gi"} {
		if got := n.Status.Allocatable[name]; got.Cmp(resource.MustParse(want)) != 0 {
			t.Errorf("allocatable %s is %s, not %s", name, got.String(), want)
		}
	}
}

func TestNodeRefuses(t *testing.T) {
	for name, c := range map[string]struct{ change, to, says string }{
		"another cluster":     {"name: main", "name: other", `names the cluster "other"`},
		"another endpoint":    {":6443", ":7443", "leads to https://127.0.0.1:7443"},
		"another CA":          {pemOf("ours"), pemOf("theirs"), "would not trust"},
		"a CA that is no PEM": {pemOf("ours"), "Q0E=", "not PEM"},
		"a CA not in base64":  {pemOf("ours"), "-----BEGIN", "not base64"},
		"a reserved label":    {"team=a", "topology.kubernetes.io/rack=a", "--node-labels must not have topology.kubernetes.io/rack"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := here.node(booting(userData(c.change, c.to))); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want an error with %q", err, c.says)
			}
		})
	}
}

func TestAllocatableOfWhatIsReserved(t *testing.T) {
	got, err := allocatable(booting("").Capacity, userdata.Config{
		KubeReserved: map[string]string{"cpu": "1", "memory": "1Gi"}, SystemReserved: map[string]string{"memory": "1Gi"}, EvictionHard: map[string]string{"memory.available": "25%"}})
	if err != nil {
		t.Fatal(err)
	}
	if cpu, memory := got["cpu"], got["memory"]; cpu.String() != "3" || memory.String() != "10Gi" {
		t.Errorf("cpu %s, memory %s", cpu.String(), memory.String())
	}
}
