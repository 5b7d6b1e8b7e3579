import { IS_RELEASE } from "./release.ts";

/** The program's name where it is installed. */
export const INSTALLED = "karpenter-serverless";

/** The program as a person types it: from an installed release, or in a checkout. */
export const PROGRAM = IS_RELEASE ? INSTALLED : "npm run -s cli --";

/** The lab, as a person types it. */
export const LAB = IS_RELEASE ? `${PROGRAM} lab` : "npm start --";
