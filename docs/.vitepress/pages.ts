/** The pages of the site, as its sidebar has them: title, and path under docs/. A test compares them with the files. */
export const PAGES: readonly { readonly text: string; readonly items: readonly { readonly text: string; readonly link: string }[] }[] = [
  {
    text: "Start",
    items: [
      { text: "What it is", link: "/" },
      { text: "Quick start", link: "/quick-start" },
      { text: "Recipes", link: "/recipes" },
      { text: "Compare", link: "/compare" },
      { text: "Where we differ", link: "/differences" },
      { text: "Observe", link: "/observe" },
      { text: "Deploy", link: "/deploy" },
      { text: "Checking an account", link: "/account-check" },
      { text: "Migrate", link: "/migrate" },
      { text: "What it costs", link: "/costs" },
      { text: "Beside Karpenter", link: "/versus" },
    ],
  },
  {
    text: "Operate",
    items: [
      { text: "Commands", link: "/commands" },
      { text: "Seeing it", link: "/view" },
      { text: "Settings", link: "/settings" },
      { text: "Limits", link: "/limits" },
      { text: "History: why, history, report", link: "/history" },
      { text: "Alarms and runbooks", link: "/operate" },
      { text: "Node repair", link: "/node-repair" },
      { text: "Pause and resume", link: "/pause" },
      { text: "Security", link: "/security" },
      { text: "Metrics, events, log lines", link: "/metrics-and-events" },
    ],
  },
  {
    text: "Concepts",
    items: [
      { text: "Words", link: "/concepts" },
      { text: "Architecture", link: "/architecture" },
      { text: "Coming from Karpenter's code", link: "/from-karpenter" },
      { text: "How a plan is found", link: "/how-a-plan-is-found" },
      { text: "A stateless controller", link: "/stateless-controller" },
      { text: "Decisions", link: "/decisions/README" },
    ],
  },
  {
    text: "Formats and figures",
    items: [
      { text: "Scenario format", link: "/scenario-format" },
      { text: "Lab report", link: "/lab-report" },
      { text: "The data of a view", link: "/view-data" },
      { text: "The lab against a control plane", link: "/lab-against-real" },
      { text: "How fast a plan is found", link: "/speed" },
    ],
  },
];
