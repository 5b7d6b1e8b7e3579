"""Starts MiniStack, corrected where it departs from AWS in what the stories are about. Each correction says what AWS does."""

import itertools
import json
import os
import re
import string
import urllib.request

from filter_pattern import matches
from ministack import app
from ministack.core import iam_actions, iam_evaluator, lambda_runtime
from ministack.services import cloudwatch_logs, eventbridge, lambda_svc, scheduler
from ministack.services.cloudformation import provisioners, stacks

# CloudWatch Logs: MiniStack knows bare terms only; a subscription filter may also be a JSON pattern.
cloudwatch_logs._subscription_pattern_matches = lambda pattern, message: matches(pattern or "", message or "")

# EventBridge: only AWS may put events whose source begins with "aws.". The stories play AWS's part (an interruption
# notice), with the account's root key; the functions' own keys stay refused unless their role has events:PutEvents.
_put_events = eventbridge._put_events
eventbridge._put_events = lambda data, allow_aws_source=False: _put_events(data, allow_aws_source=True)

# Schedules: MiniStack looks every 10 s. Here every second, and a rate runs HARNESS_TIME_SCALE times as fast: with 12,
# what is due each minute fires every 5 s. cron() and at() keep the clock's time.
_scale = float(os.environ.get("HARNESS_TIME_SCALE", "1"))
_parse_rate_seconds = eventbridge._parse_rate_seconds


def _scaled_rate_seconds(expression):
    seconds = _parse_rate_seconds(expression)
    return None if seconds is None else seconds / _scale


eventbridge._parse_rate_seconds = _scaled_rate_seconds
eventbridge._SCHEDULER_TICK_INTERVAL = 1
scheduler._SCHEDULE_TICK_INTERVAL = 1

# SQS FIFO -> Lambda: MiniStack has one batch in flight for a queue; AWS has one for each message group, so a slow group
# delays no other. Receiving already leaves out the groups that are in flight, so several batches keep each group's
# order.
_sqs_esm_concurrency = lambda_svc._sqs_esm_concurrency
lambda_svc._sqs_esm_concurrency = lambda esm, func_rec, config, queue=None: _sqs_esm_concurrency(esm, func_rec, config)

# CloudFormation: EKS access entries are a type that MiniStack does not know. They are kept in a file, from which the
# harness tells the cluster which function is whom.
_entries_file = os.environ.get("HARNESS_ACCESS_ENTRIES")
_entries = {}


def _save_entries():
    if _entries_file:
        with open(_entries_file + ".new", "w") as out:
            json.dump(list(_entries.values()), out)
        os.replace(_entries_file + ".new", _entries_file)


def _entry_create(logical_id, props, stack_name):
    key = f"{props['PrincipalArn']}|{props['ClusterName']}"
    _entries[key] = {
        "clusterName": props["ClusterName"],
        "principalArn": props["PrincipalArn"],
        "username": props.get("Username"),
        "groups": props.get("KubernetesGroups", []),
        "type": props.get("Type", "STANDARD"),
    }
    _save_entries()
    return key, {"AccessEntryArn": f"arn:aws:eks:::access-entry/{key}"}


def _entry_update(physical_id, old_props, new_props, stack_name, logical_id=None):
    _entries.pop(physical_id, None)
    return _entry_create(logical_id, new_props, stack_name)


def _entry_delete(physical_id, props):
    _entries.pop(physical_id, None)
    _save_entries()


provisioners._RESOURCE_HANDLERS["AWS::EKS::AccessEntry"] = {
    "create": _entry_create, "update": _entry_update, "delete": _entry_delete}

# Secrets Manager: MiniStack leaves ExcludePunctuation out of account when it generates a secret.
_secret_string = provisioners._sm_secret_string


def _secret_without_punctuation(props):
    generate = props.get("GenerateSecretString")
    if generate and generate.get("ExcludePunctuation") in (True, "true"):
        excluded = generate.get("ExcludeCharacters", "") + string.punctuation
        props = {**props, "GenerateSecretString": {**generate, "ExcludeCharacters": excluded}}
    return _secret_string(props)


provisioners._sm_secret_string = _secret_without_punctuation

# CloudFormation: Ref of a secret is its ARN; MiniStack gives its name, by which it keeps the secret.
_secret_handlers = provisioners._RESOURCE_HANDLERS["AWS::SecretsManager::Secret"]


def _secret_name(arn):
    return arn.split(":")[-1][:-7]


def _secret_create(*args):
    _, attributes = _secret_handlers["create"](*args)
    return attributes["Arn"], attributes


def _secret_update(physical_id, *args, **kwargs):
    _, attributes = _secret_handlers["update"](_secret_name(physical_id), *args, **kwargs)
    return attributes["Arn"], attributes


provisioners._RESOURCE_HANDLERS["AWS::SecretsManager::Secret"] = {
    **_secret_handlers, "create": _secret_create, "update": _secret_update,
    "delete": lambda physical_id, props: _secret_handlers["delete"](_secret_name(physical_id), props)}

# CloudFormation: the endpoint of an HTTP API is that of AWS, https; MiniStack gives its own.
_api_handlers = provisioners._RESOURCE_HANDLERS["AWS::ApiGatewayV2::Api"]


def _with_https(result):
    physical_id, attributes = result
    region = os.environ.get("MINISTACK_REGION", "us-east-1")
    return physical_id, {**attributes, "ApiEndpoint": f"https://{physical_id}.execute-api.{region}.amazonaws.com"}


provisioners._RESOURCE_HANDLERS["AWS::ApiGatewayV2::Api"] = {
    **_api_handlers, "create": lambda *args: _with_https(_api_handlers["create"](*args)),
    "update": lambda *args, **kwargs: _with_https(_api_handlers["update"](*args, **kwargs))}

# A function's log is written with its role, so a log group that is gone comes back only where the role has
# logs:CreateLogGroup (AWS Lambda Developer Guide, "Sending Lambda function logs to CloudWatch Logs"). MiniStack makes
# the group for every role: also that of an invocation which outlives its stack.
_emit_lambda_logs = lambda_svc._emit_lambda_logs


def _may_create(group, role_arn):
    account = role_arn.split(":")[4]
    region = os.environ.get("MINISTACK_REGION", "us-east-1")
    question = iam_evaluator.EvalContext(
        role_arn, "AssumedRole", account, "logs:CreateLogGroup", f"arn:aws:logs:{region}:{account}:log-group:{group}", region)
    policies = iam_evaluator._gather_role_policies(role_arn.split("/")[-1], account)
    return iam_evaluator.evaluate(question, policies).decision == "Allow"


def _emit_with_role(func, *args, **kwargs):
    config = func.get("config") or func
    group = (config.get("LoggingConfig") or {}).get("LogGroup") or "/aws/lambda/" + config.get("FunctionName", "unknown")
    if group in cloudwatch_logs._log_groups or _may_create(group, config.get("Role", "")):
        _emit_lambda_logs(func, *args, **kwargs)


if os.environ.get("AUTH") == "true":
    lambda_svc._emit_lambda_logs = _emit_with_role

# Batch calls of SQS are authorized as their single form: IAM has no sqs:SendMessageBatch. MiniStack asks for the
# batch's own name.
_extract_iam_action = iam_actions.extract_iam_action


def _single_action(service, *args, **kwargs):
    action = _extract_iam_action(service, *args, **kwargs)
    return action.removesuffix("Batch") if service == "sqs" and action else action


iam_actions.extract_iam_action = _single_action

# aws:PrincipalArn of a session is the ARN of its role; MiniStack gives the session's own.
_resolve_condition_key = iam_evaluator._resolve_condition_key


def _role_as_principal(key, ctx):
    value = _resolve_condition_key(key, ctx)
    if key.lower() != "aws:principalarn":
        return value
    return re.sub(r"^(arn:[^:]+):sts::(\d+):assumed-role/([^/]+)/.*$", r"\1:iam::\2:role/\3", value or "")


iam_evaluator._resolve_condition_key = _role_as_principal

# Every question that is asked of IAM, with its answer, goes to HARNESS_IAM_LOG as a line of JSON: what functions may do
# is compared with what they do.
_iam_log = os.environ.get("HARNESS_IAM_LOG")
_enforce = iam_evaluator.enforce


def _logged_enforce(access_key_id, iam_action, service, region, resource_arn="*", service_context=None):
    denied = _enforce(access_key_id, iam_action, service, region, resource_arn=resource_arn, service_context=service_context)
    line = {"accessKey": access_key_id, "action": iam_action, "resource": resource_arn, "denied": bool(denied)}
    with open(_iam_log, "a") as out:
        out.write(json.dumps(line) + "\n")
    return denied


if _iam_log:
    iam_evaluator.enforce = _logged_enforce

# For stories that kill functions in mid-work: while a worker process is at an invocation an empty file
# PID.NUMBER.FUNCTION lies in HARNESS_BUSY_DIR, and each invocation that died with its process adds the function's name
# to the file `died`.
_busy_dir = os.environ.get("HARNESS_BUSY_DIR")
_numbers = itertools.count(1)


def _mark(worker):
    name = worker.config.get("FunctionName", worker.func_name)
    worker.harness_mark = os.path.join(_busy_dir, f"{worker._proc.pid}.{next(_numbers)}.{name}")
    with open(worker.harness_mark, "w"):
        pass


def _spawn(worker):
    _worker_spawn(worker)
    if getattr(worker, "harness_invoked", False):
        _mark(worker)


def _invoke(worker, *args, **kwargs):
    worker.harness_invoked, worker.harness_mark = True, None
    if worker._proc is not None and worker._proc.poll() is None:
        _mark(worker)
    try:
        response = _worker_invoke(worker, *args, **kwargs)
    finally:
        worker.harness_invoked = False
        if worker.harness_mark:
            os.unlink(worker.harness_mark)
    if response.get("error") in ("Worker process died", "[Errno 32] Broken pipe"):
        with open(os.path.join(_busy_dir, "died"), "a") as died:
            died.write(worker.config.get("FunctionName", worker.func_name) + "\n")
    return response


if _busy_dir:
    _worker_spawn, lambda_runtime.Worker._spawn = lambda_runtime.Worker._spawn, _spawn
    _worker_invoke, lambda_runtime.Worker.invoke = lambda_runtime.Worker.invoke, _invoke

# HARNESS_ACCOUNT is the address of an account model (test/account), which is asked before CloudFormation makes or
# changes a resource, because MiniStack refuses nothing that an account's limits, controls and policies refuse.
_account = os.environ.get("HARNESS_ACCOUNT")
_provision_resource, _update_resource = stacks._provision_resource, stacks._update_resource
_delete_resource = stacks._delete_resource


def _ask_account(path, resource_type, logical_id, props):
    body = json.dumps({"type": resource_type, "logicalId": logical_id, "properties": props}, default=str).encode()
    with urllib.request.urlopen(urllib.request.Request(_account + path, data=body), timeout=60) as answer:
        refusal = json.load(answer).get("refuse")
    if refusal:
        raise ValueError(refusal)


def _provision_if_allowed(resource_type, logical_id, props, *args):
    _ask_account("/_account/make", resource_type, logical_id, props)
    return _provision_resource(resource_type, logical_id, props, *args)


def _update_if_allowed(resource_type, physical_id, old_props, new_props, stack_name, logical_id=None, *args):
    if old_props != new_props:
        _ask_account("/_account/make", resource_type, logical_id, new_props)
    return _update_resource(resource_type, physical_id, old_props, new_props, stack_name, logical_id, *args)


def _delete_and_tell(resource_type, physical_id, props, stack_name=None, logical_id=None):
    _delete_resource(resource_type, physical_id, props, stack_name, logical_id)
    _ask_account("/_account/gone", resource_type, logical_id, props)


if _account:
    stacks._provision_resource, stacks._update_resource = _provision_if_allowed, _update_if_allowed
    stacks._delete_resource = _delete_and_tell

if __name__ == "__main__":
    app.main()
