/** An amount in USD as text: "$0.12", a loss as "-$0.12". */
export function formatDollars(amount: number): string {
  return `${amount < 0 ? "-" : ""}$${Math.abs(amount).toFixed(2)}`;
}

/** A price in USD per hour, with as many digits as small prices need. */
export function perHour(price: number): string {
  return `$${price.toFixed(price >= 100 ? 2 : 4)}/h`;
}
