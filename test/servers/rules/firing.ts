/** Expressions and samples of alerts. */

export const FIRING = 'count by (alertname, instance, agent) (ALERTS{alertstate="firing"})';
export const EVER_FIRED = 'count by (alertname) (max_over_time(ALERTS{alertstate="firing"}[60m]))';

export const firing = (alert: string, where: string) => [`{alertname="${alert}", ${where}}`, 1] as const;
