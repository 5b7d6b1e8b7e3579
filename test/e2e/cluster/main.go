// Command testcluster runs a real Kubernetes control plane in one process, with fake kubelets: etcd,
// kube-apiserver, kube-controller-manager and kube-scheduler, on the loopback interface only.
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	_ "embed"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/component-base/version"
	"k8s.io/klog/v2"
	kubectl "k8s.io/kubectl/pkg/cmd"
)

//go:embed audit-policy-eks.yaml
var eksAuditPolicy []byte

type list []string

func (l *list) String() string     { return strings.Join(*l, " ") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

type options struct {
	dataDir, auditPolicy, auditLog, auditWebhook, iamIdentities, clusterName string
	port, etcdPort, controlPort, verbosity                                   int
	scheduler, stopWithStdin                                                 bool
	fleet                                                                    fleetOptions
	apiserverArgs, controllerArgs, schedulerArgs                             list
}

func main() {
	verb := ""
	if len(os.Args) > 1 {
		verb = os.Args[1]
	}
	var err error
	switch {
	case verb == "kubectl" || filepath.Base(os.Args[0]) == "kubectl":
		if verb == "kubectl" {
			os.Args = os.Args[1:]
		}
		err = kubectl.NewDefaultKubectlCommand().Execute()
	case verb == "up":
		err = up(os.Args[2:])
	case verb == "join":
		err = join(os.Args[2:])
	case verb == "version":
		fmt.Println(version.Get().GitVersion)
	default:
		err = errors.New("usage: testcluster up|join|kubectl|version [-h]")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testcluster:", err)
		os.Exit(1)
	}
}

func up(args []string) error {
	began := time.Now()
	var o options
	fs := flag.NewFlagSet("up", flag.ExitOnError)
	fs.StringVar(&o.dataDir, "data-dir", "testcluster-data", "folder for certificates, kubeconfigs, etcd, logs")
	fs.IntVar(&o.port, "port", 0, "port of kube-apiserver on 127.0.0.1 (0: any free one)")
	fs.IntVar(&o.etcdPort, "etcd-port", 0, "port of etcd on 127.0.0.1 (0: any free one)")
	fs.IntVar(&o.controlPort, "control-port", 0, "port of /boot, /halt, /join, /iam-identities and /token-review on 127.0.0.1 (0: any free one)")
	fs.StringVar(&o.auditPolicy, "audit-policy", "", "audit policy file (default: EKS's, built in)")
	fs.StringVar(&o.auditLog, "audit-log", "", "audit log, one JSON event a line (default: DATA-DIR/audit.jsonl)")
	fs.StringVar(&o.auditWebhook, "audit-webhook", "", "URL that gets audit events too, as batched EventLists")
	fs.StringVar(&o.iamIdentities, "iam-identities", "", "JSON file: [{accessKeyId, secretAccessKey, arn, username, groups}] for k8s-aws-v1 tokens")
	fs.StringVar(&o.clusterName, "cluster-name", "testcluster", "the cluster name that k8s-aws-v1 tokens sign")
	fs.BoolVar(&o.scheduler, "scheduler", true, "run kube-scheduler")
	fs.BoolVar(&o.stopWithStdin, "stop-with-stdin", false, "stop when standard input closes (no orphan when the parent dies)")
	fs.IntVar(&o.verbosity, "v", 0, "klog verbosity")
	fs.DurationVar(&o.fleet.leaseEvery, "lease-every", 10*time.Second, "fake kubelets: how often a node renews its lease")
	fs.DurationVar(&o.fleet.readyDelay, "node-ready-after", 0, "fake kubelets: from a node's creation to Ready")
	fs.DurationVar(&o.fleet.startDelay, "pod-start-after", 0, "fake kubelets: from a pod's binding to Running")
	fs.DurationVar(&o.fleet.stopDelay, "pod-stop-after", time.Second, "fake kubelets: from a pod's deletion to gone, within its grace period")
	fs.IntVar(&o.fleet.workers, "kubelet-workers", 16, "fake kubelets: pods worked on at once")
	fs.Var(&o.apiserverArgs, "apiserver-arg", "one more flag for kube-apiserver, as --name=value (repeatable)")
	fs.Var(&o.controllerArgs, "controller-manager-arg", "one more flag for kube-controller-manager (repeatable)")
	fs.Var(&o.schedulerArgs, "scheduler-arg", "one more flag for kube-scheduler (repeatable)")
	_ = fs.Parse(args)
	o.fleet.version = version.Get().GitVersion

	dir, err := filepath.Abs(o.dataDir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	logFile, err := os.OpenFile(in("testcluster.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	kf := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(kf)
	_ = kf.Parse([]string{"-logtostderr=false", "-alsologtostderr=false", "-one_output", "-stderrthreshold=FATAL", fmt.Sprint("-v=", o.verbosity)})
	klog.SetOutput(logFile)

	given := map[int]bool{}
	for _, p := range []*int{&o.port, &o.etcdPort, &o.controlPort} {
		if *p == 0 {
			if *p, err = freePort(given); err != nil {
				return err
			}
		}
	}
	if o.auditLog == "" {
		o.auditLog = in("audit.jsonl")
	}
	if o.auditPolicy == "" {
		o.auditPolicy = in("audit-policy.yaml")
		if err := os.WriteFile(o.auditPolicy, eksAuditPolicy, 0o600); err != nil {
			return err
		}
	}

	p, err := newPKI(in("pki"))
	if err != nil {
		return err
	}
	if err := p.cert("apiserver", "kube-apiserver", nil, []string{"127.0.0.1", "::1", "10.96.0.1", "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}); err != nil {
		return err
	}
	if err := p.key("service-account"); err != nil {
		return err
	}
	for name, who := range map[string][]string{
		"admin":              {"kubernetes-admin", "system:masters"},
		"fleet":              {"testcluster:fleet", "system:masters"},
		"controller-manager": {"system:kube-controller-manager"},
		"scheduler":          {"system:kube-scheduler"},
	} {
		if err := p.cert(name, who[0], who[1:], nil); err != nil {
			return err
		}
		if err := p.kubeconfig(in(name+".kubeconfig"), name, o.port); err != nil {
			return err
		}
	}
	var secret [12]byte
	_, _ = rand.Read(secret[:])
	auth, err := newAuthenticator(o.clusterName, hex.EncodeToString(secret[:]), o.iamIdentities)
	if err != nil {
		return err
	}
	for name, target := range map[string]string{
		"token-webhook": fmt.Sprintf("http://127.0.0.1:%d/token-review", o.controlPort), "audit-webhook": o.auditWebhook} {
		if err := webhookKubeconfig(in(name+".kubeconfig"), target); err != nil {
			return err
		}
	}

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if o.stopWithStdin {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			stop()
		}()
	}
	failed := make(chan error, 8)
	run := func(name string, f func() error) {
		go func() {
			if err := f(); err != nil && ctx.Err() == nil {
				failed <- fmt.Errorf("%s: %w", name, err)
			}
		}()
	}

	etcd, etcdURL, err := startEtcd(in("etcd"), o.etcdPort, in("etcd.log"))
	if err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	defer etcd.Close()

	admin, err := clientcmd.BuildConfigFromFlags("", in("fleet.kubeconfig"))
	if err != nil {
		return err
	}
	admin.QPS = -1
	nodes, err := nodeClient(admin, auth.nodeSecret, o.fleet.version)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(admin)
	if err != nil {
		return err
	}
	machines := &bootstrap{clusterName: o.clusterName, server: fmt.Sprintf("https://127.0.0.1:%d", o.port), ca: p.ca.Raw, kubelets: nodes, admin: client}
	mux := http.NewServeMux()
	mux.Handle("/token-review", auth)
	mux.HandleFunc("POST /iam-identities", auth.set)
	mux.HandleFunc("POST /boot", machines.boot)
	mux.HandleFunc("POST /halt", machines.halt)
	mux.HandleFunc("POST /join", func(w http.ResponseWriter, r *http.Request) { joinHandler(w, r, nodes) })
	control, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", o.controlPort))
	if err != nil {
		return err
	}
	run("control", func() error { return http.Serve(control, mux) })

	apiserverArgs := []string{
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
		fmt.Sprint("--secure-port=", o.port),
		"--tls-cert-file=" + p.path("apiserver.crt"), "--tls-private-key-file=" + p.path("apiserver.key"),
		"--client-ca-file=" + p.path("ca.crt"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + p.path("service-account.pub"), "--service-account-signing-key-file=" + p.path("service-account.key"),
		"--service-cluster-ip-range=10.96.0.0/16", "--allow-privileged=true",
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
		"--authentication-token-webhook-config-file=" + in("token-webhook.kubeconfig"),
		"--authentication-token-webhook-version=v1", "--authentication-token-webhook-cache-ttl=7m",
		"--etcd-servers=" + etcdURL,
		"--audit-policy-file=" + o.auditPolicy, "--audit-log-path=" + o.auditLog, "--audit-log-maxsize=100000",
		"--profiling=false",
	}
	if o.auditWebhook != "" {
		apiserverArgs = append(apiserverArgs, "--audit-webhook-config-file="+in("audit-webhook.kubeconfig"), "--audit-webhook-batch-max-wait=1s")
	}
	os.Args[0] = "kube-apiserver"
	run("kube-apiserver", func() error { return runAPIServer(ctx, append(apiserverArgs, o.apiserverArgs...)) })

	for ready := false; !ready; {
		_, err := client.RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		if ready = err == nil; ready {
			break
		}
		select {
		case err := <-failed:
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
		if time.Since(began) > 2*time.Minute {
			return fmt.Errorf("kube-apiserver not ready in 2 minutes: %w", err)
		}
	}
	readyz := time.Since(began)

	// client-go takes the user agent of a client from os.Args[0]: let the audit log name the components as elsewhere.
	if o.scheduler {
		os.Args[0] = "kube-scheduler"
		scheduling, err := setupScheduler(ctx, append([]string{
			"--kubeconfig=" + in("scheduler.kubeconfig"), "--leader-elect=false", "--secure-port=0",
			"--kube-api-qps=1000", "--kube-api-burst=2000", "--profiling=false",
		}, o.schedulerArgs...))
		if err != nil {
			return fmt.Errorf("kube-scheduler: %w", err)
		}
		run("kube-scheduler", scheduling)
	}
	os.Args[0] = "kube-controller-manager"
	run("kube-controller-manager", func() error {
		return runControllerManager(ctx, append([]string{
			"--kubeconfig=" + in("controller-manager.kubeconfig"), "--leader-elect=false", "--secure-port=0",
			"--service-account-private-key-file=" + p.path("service-account.key"), "--root-ca-file=" + p.path("ca.crt"),
			"--cluster-signing-cert-file=" + p.path("ca.crt"), "--cluster-signing-key-file=" + p.path("ca.key"),
			"--use-service-account-credentials=true", "--kube-api-qps=1000", "--kube-api-burst=2000", "--profiling=false",
		}, o.controllerArgs...))
	})
	run("fleet", func() error { return runFleet(ctx, admin, nodes, o.fleet) })

	// Pods cannot be created in a namespace before its default service account is there.
	for {
		if _, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{}); err == nil {
			break
		}
		select {
		case err := <-failed:
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	line, _ := json.Marshal(map[string]any{
		"ready": true, "pid": os.Getpid(), "version": o.fleet.version, "server": fmt.Sprintf("https://127.0.0.1:%d", o.port),
		"kubeconfig": in("admin.kubeconfig"), "auditLog": o.auditLog, "caFile": p.path("ca.crt"),
		"control":       fmt.Sprintf("http://127.0.0.1:%d", o.controlPort),
		"readyzSeconds": readyz.Seconds(), "readySeconds": time.Since(began).Seconds(),
	})
	if err := os.WriteFile(in("ready.json"), append(line, '\n'), 0o600); err != nil {
		return err
	}
	fmt.Println(string(line))

	select {
	case err = <-failed:
	case <-ctx.Done():
		err = nil
		time.Sleep(300 * time.Millisecond) // let the components hear of it
	}
	_ = os.Remove(in("ready.json"))
	return err
}

// joinHandler creates the posted Node as a kubelet registers itself: as system:node:NAME.
func joinHandler(w http.ResponseWriter, r *http.Request, client kubernetes.Interface) {
	var n corev1.Node
	if err := json.NewDecoder(r.Body).Decode(&n); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if n.Annotations == nil {
		n.Annotations = map[string]string{}
	}
	n.Annotations[fakeNode] = "fake"
	made, err := client.CoreV1().Nodes().Create(asNode(r.Context(), n.Name), &n, metav1.CreateOptions{})
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(made)
}

// freePort gives a port of 127.0.0.1 that was free a moment ago and that is not in given, and adds it there. It lies
// below those that the system gives to outgoing connections (Linux: from 32768 on): one of those may be taken before it
// is bound.
func freePort(given map[int]bool) (int, error) {
	const lowest, systems = 16384, 32768
	var last error
	for range 100 {
		port := lowest + mathrand.IntN(systems-lowest)
		if given[port] {
			continue
		}
		given[port] = true
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return port, l.Close()
		}
		last = err
	}
	return 0, fmt.Errorf("none of a hundred ports of 127.0.0.1 is free: %w", last)
}

func webhookKubeconfig(file, target string) error {
	if target == "" {
		return nil
	}
	c := clientcmdapi.NewConfig()
	c.Clusters["webhook"] = &clientcmdapi.Cluster{Server: target}
	c.AuthInfos["apiserver"] = &clientcmdapi.AuthInfo{}
	c.Contexts["webhook"] = &clientcmdapi.Context{Cluster: "webhook", AuthInfo: "apiserver"}
	c.CurrentContext = "webhook"
	return clientcmd.WriteToFile(*c, file)
}
