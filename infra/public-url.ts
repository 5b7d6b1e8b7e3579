import { createHash } from "node:crypto";
import { Aws, type Stack } from "aws-cdk-lib";
import { CfnDeployment, CfnMethod, CfnResource, CfnRestApi, CfnStage } from "aws-cdk-lib/aws-apigateway";
import { HttpApi } from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { FunctionUrlAuthType, type Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { capital } from "./lambda.ts";
import type { DeploymentSettings } from "./settings.ts";

type Called = "notify" | "admission" | "metrics";
type Callers = Pick<DeploymentSettings, "publicUrl" | "callerCidrs" | "callerVpcEndpointIds">;

/**
 * The URL by which API servers or scrapers call a function. They cannot sign requests: a secret in the path or a bearer
 * token distinguishes them from strangers.
 */
export function makePublicUrl(stack: Stack, name: Called, target: LambdaFunction, callers: Callers): string | undefined {
  switch (callers.publicUrl) {
    case "functionUrl":
      return target.addFunctionUrl({ authType: FunctionUrlAuthType.NONE }).url;
    case "apiGateway":
      // Its events have the form of a function URL's.
      return new HttpApi(stack, `${capital(name)}Api`, {
        description: descriptionOf(stack, name),
        defaultIntegration: new HttpLambdaIntegration(capital(name), target),
      }).apiEndpoint;
    case "restApi":
      return makeRestApi(stack, name, target, callers);
    case "none":
      return undefined;
  }
}

const descriptionOf = (stack: Stack, name: Called): string =>
  `${stack.stackName}: calls of ${name === "metrics" ? "scrapers" : "the clusters' API servers"}`;

/** The only stage. */
const STAGE = "k8s";
/** Every path but the root, handed on as it is. */
const PROXY = "{proxy+}";

/**
 * A REST API of one proxy method, with a policy that says who calls. The L2 construct would make a role for the whole
 * account's logs, and methods of its root.
 */
function makeRestApi(stack: Stack, name: Called, target: LambdaFunction, { callerCidrs, callerVpcEndpointIds }: Callers): string {
  const id = `${capital(name)}RestApi`;
  const httpMethod = name === "metrics" ? "GET" : "POST";
  const api = new CfnRestApi(stack, id, {
    name: `${stack.stackName}-${name}`,
    description: descriptionOf(stack, name),
    endpointConfiguration:
      callerVpcEndpointIds === undefined ? { types: ["REGIONAL"] } : { types: ["PRIVATE"], vpcEndpointIds: [...callerVpcEndpointIds] },
    // A scraper may take its answer zipped.
    ...(name === "metrics" && { binaryMediaTypes: ["*/*"] }),
    policy: policyOf({ callerCidrs, callerVpcEndpointIds }),
  });
  const resource = new CfnResource(api, "Proxy", { restApiId: api.ref, parentId: api.attrRootResourceId, pathPart: PROXY });
  const method = new CfnMethod(api, "Any", {
    ...{ restApiId: api.ref, resourceId: resource.ref, httpMethod, authorizationType: "NONE" },
    integration: {
      type: "AWS_PROXY",
      integrationHttpMethod: "POST",
      uri: `arn:${Aws.PARTITION}:apigateway:${Aws.REGION}:lambda:path/2015-03-31/functions/${target.functionArn}/invocations`,
    },
  });
  // A deployment is a picture of the API and its policy: another policy is in force only by another deployment.
  const deployment = new CfnDeployment(api, `Deployment${nameOf({ callerCidrs, callerVpcEndpointIds })}`, { restApiId: api.ref });
  deployment.node.addDependency(method);
  const stage = new CfnStage(api, "Stage", { restApiId: api.ref, deploymentId: deployment.ref, stageName: STAGE });
  target.addPermission(`${capital(name)}RestApi`, {
    principal: new ServicePrincipal("apigateway.amazonaws.com"),
    sourceArn: `arn:${Aws.PARTITION}:execute-api:${Aws.REGION}:${Aws.ACCOUNT_ID}:${api.ref}/${STAGE}/${httpMethod}/*`,
  });
  // A private API is reached by the name of one of its endpoints, which needs no private DNS.
  const endpoint = callerVpcEndpointIds?.[0];
  const host = endpoint === undefined ? api.ref : `${api.ref}-${endpoint}`;
  return `https://${host}.execute-api.${Aws.REGION}.${Aws.URL_SUFFIX}/${stage.ref}`;
}

type Policy = Pick<Callers, "callerCidrs" | "callerVpcEndpointIds">;

/** API Gateway puts the API's own ARN before execute-api:/. */
function policyOf({ callerCidrs, callerVpcEndpointIds }: Policy): object {
  const everything = { Principal: "*", Action: "execute-api:Invoke", Resource: "execute-api:/*" };
  const deny = (operator: string, key: string, values: readonly string[]) => ({
    ...everything,
    Effect: "Deny",
    Condition: { [operator]: { [key]: values } },
  });
  return {
    Version: "2012-10-17",
    Statement: [
      { ...everything, Effect: "Allow" },
      ...(callerCidrs === undefined
        ? []
        : [deny("NotIpAddress", callerVpcEndpointIds === undefined ? "aws:SourceIp" : "aws:VpcSourceIp", callerCidrs)]),
      ...(callerVpcEndpointIds === undefined ? [] : [deny("StringNotEquals", "aws:SourceVpce", callerVpcEndpointIds)]),
    ],
  };
}

/** A part of a logical id that differs between policies. */
const nameOf = (policy: Policy): string => createHash("sha256").update(JSON.stringify(policy)).digest("hex").slice(0, 8);
