// The admission function: defaults, validation and conversion of NodePools, EC2NodeClasses, NodeOverlays and
// NodeClaims. In: AdmissionReviews and ConversionReviews of the API server. Out: their responses. It holds no state and
// reads neither cluster nor store.

import { functionUrlEntry } from "#adapters/lambda/function-url.ts";
import { type AdmissionDeps, admit } from "./admit.ts";

/** Handles the requests that the clusters' webhooks and CRDs send to the function URL. */
export const admissionEntry = (deps: AdmissionDeps) => functionUrlEntry((request) => admit(request, deps));
