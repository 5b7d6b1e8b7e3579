package userdata

import (
	"reflect"
	"strings"
	"testing"
)

const nodeConfig = `apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    name: main
    apiServerEndpoint: https://127.0.0.1:6443
    certificateAuthority: Q0E=
    cidr: 10.96.0.0/16
  kubelet:
    config:
      maxPods: 58
      kubeReserved: {cpu: 100m, memory: 1Gi}
      registerWithTaints:
        - {key: karpenter.sh/unregistered, effect: NoExecute}
    flags:
      - --node-labels="karpenter.sh/nodepool=default,team=a"
`

func mimeOf(parts ...string) string {
	out := "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n"
	for _, p := range parts {
		out += "--//\n" + p + "\n"
	}
	return out + "--//--\n"
}

func nodePart(yaml string) string { return "Content-Type: application/node.eks.aws\n\n" + yaml }

var want = Config{
	ClusterName: "main", Endpoint: "https://127.0.0.1:6443", CA: "Q0E=", MaxPods: 58,
	Labels:       map[string]string{"karpenter.sh/nodepool": "default", "team": "a"},
	Taints:       []Taint{{"karpenter.sh/unregistered", "", "NoExecute"}},
	KubeReserved: map[string]string{"cpu": "100m", "memory": "1Gi"},
}

func TestRead(t *testing.T) {
	al2 := `#!/bin/bash -xe
exec > >(tee /var/log/user-data.log) 2>&1
/etc/eks/bootstrap.sh 'main' --apiserver-endpoint 'https://127.0.0.1:6443' --b64-cluster-ca 'Q0E=' \
--use-max-pods false \
--kubelet-extra-args '--node-labels="karpenter.sh/nodepool=default,team=a" --register-with-taints="karpenter.sh/unregistered:NoExecute" --max-pods=58 --kube-reserved="cpu=100m,memory=1Gi"'`
	for name, c := range map[string]struct {
		text, family, cidr string
	}{
		"AL2023":                        {mimeOf(nodePart(nodeConfig)), "AL2023", "10.96.0.0/16"},
		"AL2023 with Windows line ends": {strings.ReplaceAll(mimeOf(nodePart(nodeConfig)), "\n", "\r\n"), "AL2023", "10.96.0.0/16"},
		"AL2023, a bare document":       {nodeConfig, "AL2023", "10.96.0.0/16"},
		"AL2023, ours after the user's": {mimeOf(nodePart("apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {cluster: {name: other}, kubelet: {config: {maxPods: 5}, flags: [--v=2]}}"), "Content-Type: text/x-shellscript\n\n#!/bin/sh\ntrue", nodePart(nodeConfig)), "AL2023", "10.96.0.0/16"},
		"AL2 in MIME":                   {mimeOf("Content-Type: text/x-shellscript; charset=\"us-ascii\"\n\n#!/bin/sh\necho mine", "Content-Type: text/x-shellscript; charset=\"us-ascii\"\n\n"+al2), "AL2", ""},
		"AL2, a bare script":            {al2, "AL2", ""},
		"Bottlerocket":                  {"[settings.kubernetes]\napi-server = 'https://127.0.0.1:6443'\ncluster-certificate = 'Q0E='\ncluster-name = 'main'\nmax-pods = 58\n[settings.kubernetes.node-labels]\n'karpenter.sh/nodepool' = 'default'\nteam = 'a'\n[settings.kubernetes.node-taints]\n'karpenter.sh/unregistered' = [':NoExecute']\n[settings.kubernetes.kube-reserved]\ncpu = '100m'\nmemory = '1Gi'\n", "Bottlerocket", ""},
		"Windows":                       {"<powershell>\n[string]$EKSBootstrapScriptFile = \"$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1\"\n& $EKSBootstrapScriptFile -EKSClusterName 'main' -APIServerEndpoint 'https://127.0.0.1:6443' -Base64ClusterCA 'Q0E=' -KubeletExtraArgs '--node-labels=\"karpenter.sh/nodepool=default,team=a\" --register-with-taints=\"karpenter.sh/unregistered:NoExecute\" --max-pods=58 --kube-reserved=\"cpu=100m,memory=1Gi\"' -DNSClusterIP '10.96.0.10'\n</powershell>", "Windows", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Read(c.text)
			if err != nil {
				t.Fatal(err)
			}
			expected := want
			expected.Family, expected.CIDR = c.family, c.cidr
			if !reflect.DeepEqual(got, expected) {
				t.Errorf("got  %+v\nwant %+v", got, expected)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"nothing":                      {" \n", "empty"},
		"no cluster name":              {strings.Replace(nodeConfig, "name: main", "name: ''", 1), "lacks a cluster name"},
		"no CIDR":                      {strings.Replace(nodeConfig, "cidr: 10.96.0.0/16", "", 1), "cidr"},
		"no CA":                        {strings.Replace(nodeConfig, "certificateAuthority: Q0E=", "", 1), "certificate authority"},
		"another kind":                 {strings.Replace(nodeConfig, "kind: NodeConfig", "kind: ConfigMap", 1), "not a NodeConfig"},
		"broken YAML":                  {mimeOf(nodePart("spec: [")), "not YAML"},
		"MIME without a bootstrap":     {mimeOf("Content-Type: text/x-shellscript\n\n#!/bin/sh\ntrue"), "neither"},
		"a script without a bootstrap": {"#!/bin/sh\ntrue", "does not call"},
		"a commented bootstrap":        {"#!/bin/sh\n# /etc/eks/bootstrap.sh main", "does not call"},
		"an open quotation mark":       {"#!/bin/sh\n/etc/eks/bootstrap.sh 'main", "not closed"},
		"a value after =":              {"#!/bin/sh\n/etc/eks/bootstrap.sh main --b64-cluster-ca=Q0E= x", "knows no argument"},
		"a taint without effect":       {"#!/bin/sh\n/etc/eks/bootstrap.sh main --kubelet-extra-args '--register-with-taints=a'", "no effect"},
		"neither TOML":                 {"hello world", "not TOML"},
		"TOML of something else":       {"[settings.network]\nhostname = 'a'", "settings.kubernetes"},
		"max-pods as text":             {"[settings.kubernetes]\nmax-pods = '58'", "whole number"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := Read(c.text); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %+v, %v; want an error with %q", got, err, c.says)
			}
		})
	}
}
