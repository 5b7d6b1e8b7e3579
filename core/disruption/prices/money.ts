/** An amount in USD as text: "$0.12", a loss as "-$0.12". */
export function formatDollars(amount: number): string {
  return `${amount < 0 ? "-" : ""}$${Math.abs(amount).toFixed(2)}`;
}
