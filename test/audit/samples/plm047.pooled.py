from torch import nn
from transformers import CLIPPreTrainedModel
from transformers.models.clip.modeling_clip import CLIPOutput


class Pair(CLIPPreTrainedModel):
    def forward(self, pixel_values, input_ids, return_loss=True):
        image_outputs = self.vision_model(pixel_values=pixel_values, output_hidden_states=True)  # expect: PLM047
        text_outputs = self.text_model(input_ids=input_ids)
        image, text = self.visual_projection(image_outputs[1]), self.text_projection(text_outputs[1])
        return CLIPOutput(loss=(image * text).sum(), vision_model_output=image_outputs)


class Sum(CLIPPreTrainedModel):
    def forward(self, pixel_values, input_ids):
        # trap: of this one, nobody knows what the second is
        found = self.vision_model(pixel_values=pixel_values, output_hidden_states=True)
        return found[0].mean() + found[1][-1].mean()
