import type { LambdaFunctionURLEvent } from "aws-lambda";
import { expect, it } from "vitest";
import { functionUrlEntry, type HttpRequest, urlEvent } from "#adapters/lambda/function-url.ts";

/** A REST API's event, as its documentation has it ("Input format of a Lambda function for proxy integration"). */
const REST = {
  resource: "/{proxy+}",
  path: "/v1/c1/token",
  httpMethod: "POST",
  requestContext: { path: "/k8s/v1/c1/token", stage: "k8s" },
  pathParameters: { proxy: "v1/c1/token" },
  body: '{"a":1}',
  isBase64Encoded: false,
};

it.for([
  { name: "function URL", event: { version: "2.0", rawPath: "/v1/c1/token", body: "eyJhIjoxfQ==", isBase64Encoded: true } },
  { name: "REST API", event: REST },
])("a call of a $name has the path without the stage, and its body decoded", async ({ event }) => {
  const seen: HttpRequest[] = [];
  const entry = functionUrlEntry(async (request) => {
    seen.push(request);
    return { statusCode: 200, headers: {}, body: "" };
  });
  await entry(event as unknown as LambdaFunctionURLEvent);
  expect(seen).toEqual([{ path: "/v1/c1/token", body: '{"a":1}' }]);
});

it("an event of a REST API becomes one of a function URL: headers in lower case, the query as text, the method", () => {
  const event = {
    ...REST,
    ...{ httpMethod: "GET", path: "/metrics", headers: { Authorization: "Bearer x" } },
    multiValueQueryStringParameters: { "collect[]": ["a", "b"] },
  };
  expect(urlEvent(event)).toMatchObject({
    ...{ rawPath: "/metrics", rawQueryString: "collect%5B%5D=a&collect%5B%5D=b", headers: { authorization: "Bearer x" } },
    requestContext: { http: { method: "GET" } },
  });
  for (const odd of [undefined, "text", [], { version: "2.0" }]) expect(urlEvent(odd)).toBe(odd);
});
