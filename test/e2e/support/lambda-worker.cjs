// Loaded into every Lambda worker that MiniStack starts, before its own script. That script replaces https.request:
// calls to 127.0.0.1 leave as plain HTTP, calls to *.amazonaws.com go to MiniStack. Neither holds here: kube-apiserver
// speaks TLS on 127.0.0.1, and a function that reaches for the real AWS should fail. What stays is the answer of a
// custom resource, which CDK sends to https://127.0.0.1 without a port.
const https = require("node:https");

for (const name of ["request", "get"]) {
  const original = https[name];
  let replacement = original;
  const choose = (...args) => {
    const [first, second] = args;
    const url = typeof first === "string" || first instanceof URL ? new URL(first) : undefined;
    const options = {
      ...(url === undefined ? first : { hostname: url.hostname, port: url.port }),
      ...(typeof second === "object" ? second : {}),
    };
    const host = String(options.hostname ?? options.host ?? "");
    const portless = options.port === undefined || options.port === null || ["", "443"].includes(String(options.port));
    return (["127.0.0.1", "localhost"].includes(host) && portless ? replacement : original)(...args);
  };
  Object.defineProperty(https, name, {
    enumerable: true,
    get: () => choose,
    set: (value) => {
      replacement = value;
    },
  });
}
