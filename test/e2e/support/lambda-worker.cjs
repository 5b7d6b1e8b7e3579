// Loaded into every Lambda worker that MiniStack starts, before its own script. That script replaces https.request so that calls to
// 127.0.0.1 leave as plain HTTP, and calls to *.amazonaws.com go to itself. Neither holds here: kube-apiserver speaks TLS on
// 127.0.0.1, and a function that reaches for the real AWS should fail. So the replacement is made to have no effect.
const https = require("node:https");
for (const name of ["request", "get"]) {
  const original = https[name];
  Object.defineProperty(https, name, { configurable: false, enumerable: true, get: () => original, set() {} });
}
