// mappings.js of the book: which function shows what the device sends.
mapCommandToVCF('showLoc', displayLocationVCF);
mapCommandToVCF('showPickResults', displayPickerSelectionVCF);
mapCommandToVCF('accel', displayAccelerationVCF);
