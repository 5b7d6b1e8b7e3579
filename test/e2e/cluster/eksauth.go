package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	authv1 "k8s.io/api/authentication/v1"
)

// An identity stands for one EKS access entry: an IAM principal and who it is in the cluster.
type identity struct {
	AccessKeyID     string   `json:"accessKeyId"`
	SecretAccessKey string   `json:"secretAccessKey"`
	ARN             string   `json:"arn"`
	Username        string   `json:"username"`
	Groups          []string `json:"groups"`
}

// The identity known when --iam-identities names no file.
var builtinIdentity = identity{
	AccessKeyID: "AKIATESTCLUSTER00001", SecretAccessKey: "testcluster-secret-access-key",
	ARN:      "arn:aws:sts::111122223333:assumed-role/autoscaler/lambda",
	Username: "arn:aws:sts::111122223333:assumed-role/autoscaler/lambda",
	Groups:   []string{"autoscaler"},
}

// authenticator answers TokenReviews: EKS tokens ("k8s-aws-v1." + base64url of a presigned
// STS GetCallerIdentity URL) and the fake kubelets' own ("node.NAME.SECRET").
type authenticator struct {
	clusterName string
	nodeSecret  string
	mu          sync.Mutex
	identities  []identity
}

// set replaces the identities by those of the body: POST /iam-identities.
func (a *authenticator) set(w http.ResponseWriter, r *http.Request) {
	var identities []identity
	if err := json.NewDecoder(r.Body).Decode(&identities); err != nil {
		http.Error(w, "give a JSON list of {accessKeyId, secretAccessKey, arn, username, groups}: "+err.Error(), http.StatusBadRequest)
		return
	}
	a.mu.Lock()
	a.identities = identities
	a.mu.Unlock()
	reply(w, map[string]int{"identities": len(identities)})
}

func newAuthenticator(clusterName, nodeSecret, file string) (*authenticator, error) {
	a := &authenticator{clusterName: clusterName, nodeSecret: nodeSecret, identities: []identity{builtinIdentity}}
	if file != "" {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		a.identities = nil
		if err := json.Unmarshal(raw, &a.identities); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return a, nil
}

func (a *authenticator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review authv1.TokenReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	user, err := a.authenticate(review.Spec.Token, time.Now())
	review.Status = authv1.TokenReviewStatus{Authenticated: err == nil, User: user}
	if err != nil {
		review.Status.Error = err.Error()
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review)
}

func (a *authenticator) authenticate(token string, now time.Time) (authv1.UserInfo, error) {
	var none authv1.UserInfo
	if rest, ok := strings.CutPrefix(token, "node."); ok {
		name, ok := strings.CutSuffix(rest, "."+a.nodeSecret)
		if !ok {
			return none, errors.New("wrong node token")
		}
		return authv1.UserInfo{Username: "system:node:" + name, Groups: []string{"system:bootstrappers", "system:nodes"}}, nil
	}
	encoded, ok := strings.CutPrefix(token, "k8s-aws-v1.")
	if !ok {
		return none, errors.New("unknown kind of token")
	}
	raw, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return none, fmt.Errorf("token is not base64url without padding: %w", err)
	}
	u, err := url.Parse(string(raw))
	if err != nil {
		return none, err
	}
	q := u.Query()
	if u.Scheme != "https" || !strings.HasPrefix(u.Host, "sts.") || u.Path != "/" {
		return none, fmt.Errorf("not an STS URL: %s://%s%s", u.Scheme, u.Host, u.Path)
	}
	if q.Get("Action") != "GetCallerIdentity" {
		return none, fmt.Errorf("action %q is not GetCallerIdentity", q.Get("Action"))
	}
	at, err := time.Parse("20060102T150405Z", q.Get("X-Amz-Date"))
	if err != nil {
		return none, fmt.Errorf("X-Amz-Date: %w", err)
	}
	expires, err := strconv.Atoi(q.Get("X-Amz-Expires"))
	if err != nil || expires < 0 || expires > 900 {
		return none, fmt.Errorf("X-Amz-Expires %q is not within 0 to 900", q.Get("X-Amz-Expires"))
	}
	if now.After(at.Add(15*time.Minute)) || at.After(now.Add(15*time.Minute)) {
		return none, fmt.Errorf("signed at %s: expired or not yet valid", at)
	}
	if !strings.Contains(";"+q.Get("X-Amz-SignedHeaders")+";", ";x-k8s-aws-id;") {
		return none, errors.New("the header x-k8s-aws-id is not signed")
	}
	keyID, scope, _ := strings.Cut(q.Get("X-Amz-Credential"), "/")
	a.mu.Lock()
	identities := a.identities
	a.mu.Unlock()
	for _, id := range identities {
		if id.AccessKeyID != keyID {
			continue
		}
		if want := a.signature(u, scope, id.SecretAccessKey); !hmac.Equal([]byte(want), []byte(q.Get("X-Amz-Signature"))) {
			return none, errors.New("the signature does not match (secret, cluster name or canonical request)")
		}
		session := id.ARN[strings.LastIndex(id.ARN, "/")+1:]
		return authv1.UserInfo{
			Username: id.Username, Groups: id.Groups, UID: "aws-iam-authenticator:111122223333:" + keyID,
			Extra: map[string]authv1.ExtraValue{
				"accessKeyId": {keyID}, "arn": {id.ARN}, "canonicalArn": {id.ARN}, "principalId": {keyID}, "sessionName": {session},
			}}, nil
	}
	return none, fmt.Errorf("no access entry for %s", keyID)
}

// signature computes the SigV4 query signature that the URL should carry, x-k8s-aws-id being the cluster's name.
func (a *authenticator) signature(u *url.URL, scope, secret string) string {
	q := u.Query()
	q.Del("X-Amz-Signature")
	pairs := make([]string, 0, len(q))
	for k, vs := range q {
		for _, v := range vs {
			pairs = append(pairs, awsEscape(k)+"="+awsEscape(v))
		}
	}
	sort.Strings(pairs)
	headers := ""
	for _, h := range strings.Split(q.Get("X-Amz-SignedHeaders"), ";") {
		switch h {
		case "host":
			headers += "host:" + u.Host + "\n"
		case "x-k8s-aws-id":
			headers += "x-k8s-aws-id:" + a.clusterName + "\n"
		}
	}
	empty := sha256.Sum256(nil)
	canonical := strings.Join([]string{"GET", u.Path, strings.Join(pairs, "&"), headers,
		q.Get("X-Amz-SignedHeaders"), hex.EncodeToString(empty[:])}, "\n")
	digest := sha256.Sum256([]byte(canonical))
	toSign := strings.Join([]string{"AWS4-HMAC-SHA256", q.Get("X-Amz-Date"), scope, hex.EncodeToString(digest[:])}, "\n")
	key := []byte("AWS4" + secret)
	for _, part := range strings.Split(scope, "/") {
		key = mac(key, part)
	}
	return hex.EncodeToString(mac(key, toSign))
}

func mac(key []byte, s string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(s))
	return m.Sum(nil)
}

func awsEscape(s string) string {
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}
