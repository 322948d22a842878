import { LabIcon } from '@jupyterlab/ui-components';
import compilescopeSvg from '../style/icons/compilescope.svg';

/**
 * A lens over two columns of code.
 */
export const compilescopeIcon = new LabIcon({
  name: 'jupyterlab-compilescope:icon',
  svgstr: compilescopeSvg
});
