// Steps about EC2: one machine of the smallest type, launched by an instant fleet as the lifecycle function does it.

import { tagOf, tagsOf, templateName } from "./names.ts";
import { type Machines, type Step, waitFor } from "./step.ts";

const IMAGE_PARAMETER = "/aws/service/ami-amazon-linux-latest/al2023-ami-minimal-kernel-default-arm64";
/** The second is launched only where EC2 takes a repeated token for a new request. */
const MACHINES: Machines = { type: "t4g.nano", count: 2, minutes: 10, pricePerHour: 0.0042 };

const SECOND = 1_000;
/** How long the product searches for a launch whose answer was lost. */
const SEARCHED_MS = 60_000;

const spotRole: Step = {
  name: "spot-role",
  question: "Has the account the service-linked role of spot?",
  expected: "AWSServiceRoleForEC2Spot exists; without it spot is not launched.",
  place: { file: "installer/checks/observe-account.ts", text: "AWSServiceRoleForEC2Spot" },
  calls: ["iam:GetRole"],
  makes: [],
  minutes: 1,
  run: async ({ cloud }) => {
    const has = await cloud.hasRole("AWSServiceRoleForEC2Spot");
    const mend = "make it: aws iam create-service-linked-role --aws-service-name spot.amazonaws.com";
    return { isExpected: has, seen: has ? "The role exists." : `There is no such role; ${mend}` };
  },
};

const lag: Step = {
  name: "describe-lag",
  question: "How long after CreateFleet does DescribeInstances know the machine, by its id and by its tag?",
  expected: "Both within 60 s, for which a launch whose answer was lost is searched.",
  place: { file: "core/lifecycle/termination.ts", text: "MAX_LOST_LAUNCH_MS" },
  calls: [
    ...["ec2:CreateLaunchTemplate", "ec2:CreateFleet", "ec2:RunInstances", "ec2:CreateTags", "ec2:DescribeInstances"],
    ...["ssm:GetParameter"],
  ],
  makes: ["a launch template", "a machine"],
  minutes: 3,
  machines: MACHINES,
  run: async (scene) => {
    const { cloud, runId, made, now, subnet = "" } = scene;
    const template = templateName(runId);
    await cloud.createTemplate({ name: template, instanceType: MACHINES.type, imageParameter: IMAGE_PARAMETER, tags: tagsOf(runId) });
    const [id] = await cloud.launch({ template, subnet, token: runId, tags: tagsOf(runId) });
    if (id === undefined) return { isExpected: false, seen: `EC2 launched no ${MACHINES.type} in ${subnet}.` };
    made.machine = { id, launchedAt: now() };
    const byId = await waitFor(() => cloud.state(id), scene, { everyMs: SECOND, limitMs: 3 * SEARCHED_MS });
    const isListed = async () => ((await cloud.instances(tagOf(runId))).includes(id) ? true : undefined);
    const byTag = await waitFor(isListed, scene, { everyMs: SECOND, limitMs: 3 * SEARCHED_MS });
    if (byId === undefined || byTag === undefined)
      return { isExpected: false, seen: `After three minutes EC2 does not list ${id} by its ${byId === undefined ? "id" : "tag"}.` };
    const figures = { byIdMs: byId.ms, byTagMs: byId.ms + byTag.ms };
    const seen = `By its id after ${figures.byIdMs} ms, by its tag after ${figures.byTagMs} ms.`;
    return { isExpected: figures.byTagMs <= SEARCHED_MS, seen, figures };
  },
};

const token: Step = {
  name: "fleet-token",
  question: "Does an instant fleet whose client token is repeated launch again?",
  expected: "EC2 answers with the same machine and launches no other.",
  place: { file: "core/launch/fleet-request.ts", text: "clientToken" },
  calls: ["ec2:CreateFleet", "ec2:RunInstances", "ec2:CreateTags", "ec2:DescribeInstances"],
  makes: ["a second machine, if the token does not hold"],
  minutes: 1,
  needs: "machine",
  run: async (scene) => {
    const { cloud, runId, made, subnet = "" } = scene;
    const ids = await cloud.launch({ template: templateName(runId), subnet, token: runId, tags: tagsOf(runId) });
    const others = ids.filter((id) => id !== made.machine?.id);
    if (others.length > 0) return { isExpected: false, seen: `EC2 launched another machine: ${others.join(", ")}.` };
    const seen = ids.length === 0 ? "EC2 answered without a machine, and launched none." : "EC2 answered with the same machine.";
    return { isExpected: ids.length > 0, seen };
  },
};

const ending: Step = {
  name: "termination",
  question: "How long does EC2 take to end a machine?",
  expected: "30 to 90 s, in which the NodeClaim waits.",
  place: { file: "core/lifecycle/termination.ts", text: "INSTANCE_POLL_MS" },
  calls: ["ec2:TerminateInstances", "ec2:DescribeInstances"],
  makes: [],
  minutes: 4,
  needs: "machine",
  run: async (scene) => {
    const { cloud, made } = scene;
    const id = made.machine?.id ?? "";
    const running = await waitFor(async () => ((await cloud.state(id)) === "running" ? true : undefined), scene, { everyMs: SECOND });
    if (running === undefined) return { isExpected: undefined, seen: `Machine ${id} did not run.` };
    await cloud.terminate([id]);
    const isEnded = async () => (["terminated", undefined].includes(await cloud.state(id)) ? true : undefined);
    const ended = await waitFor(isEnded, scene, { everyMs: SECOND });
    if (ended === undefined) return { isExpected: false, seen: `Machine ${id} has not ended after six minutes.` };
    const isExpected = ended.ms >= 30_000 && ended.ms <= 90_000;
    return { isExpected, seen: `It took ${Math.round(ended.ms / SECOND)} s.`, figures: { endedMs: ended.ms } };
  },
};

export const MACHINE_STEPS: readonly Step[] = [spotRole, lag, token, ending];
