// Texts of what an event came with, each behind its mark. A text without a value has none.

import type { ComponentChildren } from 'preact';
import { isMarked } from './mark-of.ts';
import { ValueMark } from './value-mark.tsx';

type Children = { children: ComponentChildren };

export function Marked(props: { property: string; value: string | undefined } & Children) {
  const { property, value, children } = props;
  if (!value || !isMarked(property)) return <>{children}</>;
  return (
    <span class="marked">
      <ValueMark property={property} value={value} />
      <span class="clip" title={typeof children === 'string' ? children : undefined}>
        {children}
      </span>
    </span>
  );
}

export function MarkedPlace({ country, children }: { country: string | undefined } & Children) {
  return (
    <Marked property="$country" value={country}>
      {children}
    </Marked>
  );
}

/** The browser's mark, else that of the system. */
export function MarkedDevice(
  props: { browser: string | undefined; os: string | undefined } & Children,
) {
  const { browser, os } = props;
  return (
    <Marked property={browser ? '$browser' : '$os'} value={browser || os}>
      {props.children}
    </Marked>
  );
}

/** The site's mark, else that of the campaign's source, else that of the channel. */
export function MarkedSource(
  props: { referrerDomain?: string; utmSource?: string; channel?: string } & Children,
) {
  const { referrerDomain, utmSource, channel, children } = props;
  const property = referrerDomain ? '$referrerDomain' : utmSource ? '$utmSource' : '$channel';
  return (
    <Marked property={property} value={referrerDomain || utmSource || channel}>
      {children}
    </Marked>
  );
}
