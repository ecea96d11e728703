#!/usr/bin/env python3
"""Draws what `ccpbench export vtk` wrote into a PNG: spheres by speed, force chains as tubes by
|gamma|. Needs Debian's python3-vtk9, and xvfb-run where there is no screen; ParaView shows the same
from the .vtm.

Usage: render_vtk.py PREFIX OUT.png
"""
import sys

# The last two register what draws.
import vtkmodules.vtkInteractionStyle
import vtkmodules.vtkRenderingFreeType
import vtkmodules.vtkRenderingOpenGL2  # noqa: F401
from vtkmodules.vtkCommonDataModel import vtkDataObject
from vtkmodules.vtkFiltersCore import vtkPolyDataNormals, vtkThreshold, vtkTubeFilter
from vtkmodules.vtkFiltersGeometry import vtkGeometryFilter
from vtkmodules.vtkIOImage import vtkPNGWriter
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader
from vtkmodules.vtkRenderingAnnotation import vtkScalarBarActor
from vtkmodules.vtkRenderingCore import (
    vtkActor,
    vtkPolyDataMapper,
    vtkRenderer,
    vtkRenderWindow,
    vtkWindowToImageFilter,
)


def read(path):
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(path)
    reader.Update()
    return reader.GetOutput()


def actor(source, use_cells, array, opacity=1.0):
    mapper = vtkPolyDataMapper()
    mapper.SetInputConnection(source.GetOutputPort())
    (mapper.SetScalarModeToUseCellFieldData if use_cells
     else mapper.SetScalarModeToUsePointFieldData)()
    mapper.SelectColorArray(array)
    lookup = mapper.GetLookupTable()
    lookup.SetHueRange(0.667, 0.0)
    out = vtkActor()
    out.SetMapper(mapper)
    out.GetProperty().SetOpacity(opacity)
    return out, mapper


def bar(mapper, title, x):
    out = vtkScalarBarActor()
    out.SetLookupTable(mapper.GetLookupTable())
    out.SetTitle(title)
    out.SetNumberOfLabels(3)
    out.SetPosition(x, 0.05)
    out.SetWidth(0.09)
    out.SetHeight(0.5)
    for text in (out.GetTitleTextProperty(), out.GetLabelTextProperty()):
        text.SetColor(0, 0, 0)
    return out


def main(prefix, output):
    bodies, contacts = read(f"{prefix}-bodies.vtp"), read(f"{prefix}-contacts.vtp")
    normals = vtkPolyDataNormals()
    normals.SetInputData(bodies)
    normals.SplittingOff()
    spheres, speed = actor(normals, False, "speed", 0.25)
    speed.SetScalarRange(bodies.GetPointData().GetArray("speed").GetRange())

    force = contacts.GetCellData().GetArray("gamma_norm")
    largest = force.GetRange()[1] or 1.0
    loaded = vtkThreshold()  # without it, a contact that carries nothing hides one that does
    loaded.SetInputData(contacts)
    loaded.SetInputArrayToProcess(0, 0, 0, vtkDataObject.FIELD_ASSOCIATION_CELLS, "gamma_norm")
    loaded.SetUpperThreshold(0.01 * largest)
    loaded.SetThresholdFunction(vtkThreshold.THRESHOLD_UPPER)
    surface = vtkGeometryFilter()
    surface.SetInputConnection(loaded.GetOutputPort())
    size = contacts.GetLength()
    tubes = vtkTubeFilter()
    tubes.SetInputConnection(surface.GetOutputPort())
    tubes.SetRadius(0.003 * size)
    tubes.SetNumberOfSides(8)
    chains, gamma = actor(tubes, True, "gamma_norm")
    gamma.SetScalarRange(0, largest)

    renderer = vtkRenderer()
    renderer.SetBackground(1, 1, 1)
    bars = bar(speed, "speed [m/s]", 0.02), bar(gamma, "|gamma| [N s]", 0.88)
    for one in (spheres, chains, *bars):
        renderer.AddActor(one)
    camera = renderer.GetActiveCamera()
    camera.SetPosition(0.1, -1, 0.1)
    camera.SetViewUp(0, 0, 1)
    renderer.ResetCamera()
    camera.Zoom(1.35)
    window = vtkRenderWindow()
    window.SetOffScreenRendering(1)
    window.SetMultiSamples(0)
    window.SetSize(800, 500)
    window.AddRenderer(renderer)
    renderer.SetUseDepthPeeling(1)
    window.SetAlphaBitPlanes(1)
    window.Render()
    image = vtkWindowToImageFilter()
    image.SetInput(window)
    writer = vtkPNGWriter()
    writer.SetFileName(output)
    writer.SetInputConnection(image.GetOutputPort())
    writer.Write()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
