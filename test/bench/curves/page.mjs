/** The page that shows the measured curves with their conditions. */
import { charts } from './charts.mjs';

const head = `# Curves

Written by \`npm run bench:curves\`, which measures how an API server grows, in less than ten minutes on 2 cores, and draws
the figures from [points.json](curves/points.json). \`--only=objects,writers\` measures some curves and retains the others,
\`--draw\` draws without measuring, \`--short\` only checks that everything runs. The load generator and all servers share
the cores of the machine. Nothing is asserted: compare curves of one machine.
`;

/** `curves`: the content of points.json. */
export function curvesPage(curves) {
  const sections = Object.entries(charts).flatMap(([name, { title }]) => {
    const curve = curves[name];
    if (!curve) return [];
    const { date, conditions, seconds, note } = curve;
    const ended = note ? ` The curve ${note}.` : '';
    return `
## ${name}

![${title}](curves/${name}.svg)

${date}: ${conditions}; measured in ${seconds} s.${ended}
`;
  });
  return head + sections.join('');
}
